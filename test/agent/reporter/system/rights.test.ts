/** The files of packaging/mqtt: with them everything works, and no user can impersonate or command another. */
import t, { type Test } from 'tap';
import {
  type Broker,
  NO_BROKER,
  NO_NATS,
  natsKind,
  startBeside,
  startBroker,
  Witness,
} from '../../../exporters/mqtt/broker.ts';
import { FAKE_EVENT, FakeHistory } from '../../../helpers/fakes/history.ts';
import { findFreePort } from '../../../helpers/service/free-port.ts';
import { until } from '../../../helpers/until.ts';
import { HUB, hubCommand, hubPart, TestHub } from '../rig.ts';
import { shipped } from '../shipped.ts';

const PASSWORDS = { pc: 'pc-password-1', nas: 'nas-password-1', hub1: 'hub-password-1' };
type User = keyof typeof PASSWORDS;
const login = (username: User) => ({ username, password: PASSWORDS[username] });

const BROKERS = [
  {
    name: 'mosquitto',
    skip: NO_BROKER,
    start: (t: Test) =>
      startBroker(
        t,
        ['allow_anonymous false', 'password_file @/users', 'acl_file @/acl'],
        (broker: Broker) => {
          broker.users(PASSWORDS);
          broker.file('acl', shipped('mosquitto.acl'));
        },
      ),
  },
  {
    name: 'nats-server',
    skip: NO_NATS,
    start: async (t: Test) =>
      await startBroker(
        t,
        ['include "nats-users.conf"'],
        (broker) => {
          broker.file('nats-users.conf', shipped('nats-users.conf'));
          broker.env = Object.fromEntries(
            Object.entries(PASSWORDS).map(([user, password]) => [
              `HOSTWIRE_${user.toUpperCase()}_PASSWORD`,
              password,
            ]),
          );
        },
        natsKind(await findFreePort()),
      ),
  },
] as const;

for (const { name, skip, start } of BROKERS)
  t.test(
    `[3.mqtt-hub-rights] ${name}: everything works, and no user impersonates another`,
    { skip },
    async (t) => {
      const broker = await start(t);
      const hub = await TestHub.open(t, broker.url, 'hub1', login('hub1'));
      const secret = { path: 'password', secret: PASSWORDS.pc };
      const mqtt = hubPart(broker, { username: 'pc', password_file: secret });
      const history = new FakeHistory();
      const config = { mqtt, stats: { stream_interval_seconds: 1 } };
      const { service, media } = await startBeside(t, config, { history });
      await until(() => hub.state === 'online', 'online');
      await hub.ask('clock');
      await hub.want({ sections: ['cpu'], topics: ['media', 'power', 'events'] });
      await until(
        () =>
          hub.samples.length > 1 && hub.on(`${HUB}/media`).length > 0 && hub.on(`${HUB}/power`).length > 0,
        'all that an agent publishes',
      );
      history.notify(FAKE_EVENT);
      await until(() => hub.on(`${HUB}/event`).length > 0, 'and events');
      t.match(await hub.command('media.mute'), { stage: 'done' });
      t.equal(media.controls.length, 1);
      t.notMatch(service.stderr(), /refuses/);

      // The other agent's credentials.
      const spy = new Witness(broker.url, { ...login('nas'), protocolVersion: 4, clientId: 'nas' });
      t.teardown(() => spy.client.end(true));
      const foreign = [
        `${HUB}/#`,
        `${HUB}/want`,
        `${HUB}/cmd/#`,
        `${HUB}/sample`,
        'hostwire/+/hub/feedback/hub1',
      ];
      for (const topic of foreign) await spy.client.subscribeAsync(topic, { qos: 0 }).catch(() => undefined);
      await spy.client.subscribeAsync('hostwire/nas/hub/want', { qos: 0 });
      const forged = { state: 'forged', hub: 'hub1', n: 0, plain: [] };
      const command = hub.envelope({});
      const forge = (topic: string, payload: object, retain = false) =>
        spy.say(topic, JSON.stringify(payload), { qos: 0, retain });
      for (const end of ['status', 'sample', 'media', 'power', 'event', 'feedback/hub1']) {
        await forge(`${HUB}/${end}`, forged);
        await forge(`${HUB}/${end}`, forged, true);
      }
      await forge(hubCommand('media.next'), command);
      await forge(`${HUB}/want`, { hub: 'hub1', sections: ['memory'] });
      // A message that it may send arrives after all of the forged ones.
      await forge('hostwire/nas/hub/status', { state: 'marker' });
      await until(() => hub.on('hostwire/nas/hub/status').length > 0, 'its own topic');
      await hub.want({ sections: ['cpu'] });
      await hub.say('hostwire/nas/hub/want', { hub: 'hub1' });
      await until(() => spy.on('hostwire/nas/hub/want').length > 0, 'and what it is asked');
      t.match(await hub.ask('clock'), { stage: 'done' });
      t.notOk(
        hub.heard.some(({ text }) => text.includes('forged')),
        'no forged message arrives',
      );
      t.ok(
        spy.heard.every(({ topic }) => topic === 'hostwire/nas/hub/want'),
        'nothing of another arrives',
      );
      t.equal(media.controls.length, 1, 'no command of an agent is done');
      t.ok(
        hub.samples.every(({ head }) => head.plain.join() === 'cpu'),
        'and no want of an agent is heard',
      );
      t.notOk(hub.answers.some(({ id }) => id === command.id));
      const late = await TestHub.open(t, broker.url, 'hub1', { ...login('hub1'), clientId: 'hub1-again' });
      await until(() => late.state === 'online', 'the state that is kept');
      t.notOk(
        late.heard.some(({ text }) => text.includes('forged')),
        'nothing forged was kept',
      );

      // A hub is not an agent, and reads no other hub's answers.
      await hub.say(`${HUB}/sample`, forged);
      await hub.say(`${HUB}/feedback/hub2`, forged);
      await hub.client
        .subscribeAsync(['hostwire/+/hub/feedback/hub2', `${HUB}/want`], { qos: 0 })
        .catch(() => undefined);
      await hub.say(`${HUB}/cmd/get`, { ...hub.envelope({}), hub: 'hub2', what: 'power' });
      t.match(await hub.ask('clock'), { stage: 'done' });
      t.notOk(hub.heard.some(({ text, topic }) => text.includes('forged') || /hub2$|want$/.test(topic)));
    },
  );
