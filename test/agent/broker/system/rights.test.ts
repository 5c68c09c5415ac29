/** The shipped rights of packaging/mqtt: a hub needs no more, on either broker. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import {
  type Broker,
  NO_BROKER,
  NO_NATS,
  natsKind,
  startBeside,
  startBroker,
} from '../../../exporters/mqtt/broker.ts';
import { ask } from '../../../helpers/clients/http.ts';
import { FAKE_EVENT, FakeHistory } from '../../../helpers/fakes/history.ts';
import { snapshotOf } from '../../../helpers/fakes/media.ts';
import { findFreePort } from '../../../helpers/service/free-port.ts';
import { until } from '../../../helpers/until.ts';
import { startHub, watch } from '../../../hub/setup.ts';
import { HubClient } from '../../../hub/socket-setup.ts';
import { hubPart } from '../../reporter/rig.ts';
import { brokerPart, EVERYTHING } from '../setup.ts';

const FILES = path.resolve(import.meta.dirname, '../../../../../../packaging/mqtt');
const shipped = (name: string) => readFileSync(path.join(FILES, name), 'utf8');
const PASSWORDS = { pc: 'pc-password-1', nas: 'nas-password-1', hub1: 'hub-password-1' };
const MOSQUITTO = ['allow_anonymous false', 'password_file @/users', 'acl_file @/acl'];

const BROKERS = [
  {
    name: 'mosquitto',
    skip: NO_BROKER,
    start: async (t: Test): Promise<Broker> =>
      await startBroker(t, MOSQUITTO, (broker) => {
        broker.users(PASSWORDS);
        broker.file('acl', shipped('mosquitto.acl'));
      }),
  },
  {
    name: 'nats-server',
    skip: NO_NATS,
    start: async (t: Test): Promise<Broker> => {
      const prepare = (broker: Broker) => {
        broker.file('nats-users.conf', shipped('nats-users.conf'));
        const entries = Object.entries(PASSWORDS);
        broker.env = Object.fromEntries(
          entries.map(([user, password]) => [`HOSTWIRE_${user.toUpperCase()}_PASSWORD`, password]),
        );
      };
      return await startBroker(t, ['include "nats-users.conf"'], prepare, natsKind(await findFreePort()));
    },
  },
];

for (const { name, skip, start } of BROKERS)
  t.test(`[I.hub.mqtt.rights] ${name}: with the shipped rights everything works`, { skip }, async (t) => {
    const broker = await start(t);
    const login = (username: keyof typeof PASSWORDS) => ({
      username,
      password_file: { path: 'password', secret: PASSWORDS[username] },
    });
    const history = new FakeHistory();
    const config = { mqtt: hubPart(broker, login('pc')), stats: { stream_interval_seconds: 1 } };
    const { service, media } = await startBeside(t, config, { history });
    // Its name is that of its user.
    const part = brokerPart(broker.url, EVERYTHING, { ...login('hub1'), name: undefined });
    const hub = await startHub(t, {}, part);
    const stream = await watch(hub, 'pc', '?detail=1');
    await stream.next();
    await stream.next();
    t.equal((await ask(hub.port, '/api/hosts/pc/system')).status, 200);
    const answer = await ask(hub.port, '/api/hosts/pc/media/control', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"action":"mute"}',
    });
    t.equal(answer.status, 200);
    t.equal(media.controls.length, 1);
    const client = await HubClient.open(t, hub);
    client.say('subscribe', { host: 'pc', data: { topics: ['media', 'power', 'events'] } }, 'all');
    await client.take('power_update');
    const [player] = media.snapshot.players;
    if (player === undefined) throw new Error('there is a player');
    media.change(snapshotOf({ ...player, title: 'B' }));
    await client.take(({ type, data }) => type === 'media_update' && data['title'] === 'B');
    await until(() => {
      history.notify(FAKE_EVENT);
      return client.told.some(({ type }) => type === 'event') ? true : undefined;
    });
    t.notMatch(service.stderr() + hub.log.join('\n'), /refuses|refused/);
    // Another agent's user is not a hub.
    const thief = await startHub(
      t,
      {},
      brokerPart(broker.url, EVERYTHING, { ...login('nas'), name: 'hub2' }),
    );
    await until(() => /connected to/.test(thief.log.join('\n')));
    t.equal((await ask(hub.port, '/api/hosts/pc/system')).status, 200);
    t.same(await thief.hosts(), [], 'it sees nobody');
  });
