/** The shipped files of both brokers, with an authority of one's own: TLS and its faults, and the rights of each user. */
import t, { type Test } from 'tap';
import {
  type Broker,
  mqttPart,
  NO_BROKER,
  NO_NATS,
  natsKind,
  startBeside,
  startBroker,
  Witness,
} from '../../../exporters/mqtt/broker.ts';
import { makePair, type TestPair } from '../../../helpers/certificates.ts';
import { ask } from '../../../helpers/clients/http.ts';
import { findFreePort } from '../../../helpers/service/free-port.ts';
import { until } from '../../../helpers/until.ts';
import { brokerPart, EVERYTHING } from '../../../hub/broker/setup.ts';
import { edited, shipped } from '../../../hub/cluster/shipped.ts';
import { startHub, watch } from '../../../hub/setup.ts';

t.setTimeout(280_000);

const PASSWORDS = { pc: 'pc-password-1', nas: 'nas-password-1', hub1: 'hub-password-1' };
type User = keyof typeof PASSWORDS;

/** The pair of the server, and the authority, in the folder of the broker. */
const addPair = (broker: Broker, pair: TestPair, ca: TestPair) => {
  broker.file('cert.pem', pair.cert);
  broker.file('key.pem', pair.key);
  broker.file('ca.pem', ca.cert);
};

/** Both with their shipped main file and rights. */
const BROKERS = [
  {
    name: 'mosquitto',
    skip: NO_BROKER,
    start: async (t: Test, pair: TestPair, ca: TestPair) =>
      await startBroker(
        t,
        [],
        (broker) => {
          broker.users(PASSWORDS);
          broker.file('hostwire.acl', shipped('mqtt/mosquitto.acl'));
          addPair(broker, pair, ca);
        },
        {
          command: 'mosquitto',
          configOf: (port) => [
            'user root',
            edited(shipped('mqtt/mosquitto.conf'), [
              ['listener 8883', `listener ${port} 127.0.0.1`],
              ['/etc/mosquitto/certs/', '@/'],
              ['/etc/mosquitto/', '@/'],
            ]),
          ],
        },
      ),
  },
  {
    name: 'nats-server',
    skip: NO_NATS,
    start: async (t: Test, pair: TestPair, ca: TestPair) => {
      const own = await findFreePort();
      return await startBroker(
        t,
        [],
        (broker) => {
          broker.file('nats-users.conf', shipped('mqtt/nats-users.conf'));
          addPair(broker, pair, ca);
          const entries = Object.entries(PASSWORDS);
          broker.env = Object.fromEntries(
            entries.map(([user, password]) => [`HOSTWIRE_${user.toUpperCase()}_PASSWORD`, password]),
          );
        },
        {
          ...natsKind(own),
          configOf: (port) => [
            edited(shipped('mqtt/nats.conf'), [
              ['127.0.0.1:4222', `"127.0.0.1:${own}"`],
              ['"0.0.0.0:8883"', `"127.0.0.1:${port}"`],
              ['/var/lib/nats', '@/store'],
              ['/etc/nats/', '@/'],
            ]),
          ],
        },
      );
    },
  },
];

/** A hub and a machine that trust `ca` alone. */
async function startBoth(t: Test, port: number, ca: TestPair) {
  const login = (username: User) => ({
    username,
    password_file: { path: 'password', secret: PASSWORDS[username] },
    ca: { path: 'ca.pem', pem: ca.cert },
  });
  const url = `mqtts://localhost:${port}`;
  const { service, media } = await startBeside(t, {
    mqtt: mqttPart(url, { publish: 'hub', ...login('pc') }),
    stats: { stream_interval_seconds: 1 },
  });
  // Its name is that of its user.
  const hub = await startHub(t, {}, brokerPart(url, EVERYTHING, login('hub1')));
  const startThief = async (name: string) =>
    await startHub(t, {}, brokerPart(url, EVERYTHING, { ...login('nas'), name }));
  return { hub, media, startThief, logs: () => [service.stderr(), hub.log.join('\n')] };
}

for (const { name, skip, start } of BROKERS)
  t.test(
    `[I.hub.mqtt.tls] [I.hub.mqtt.rights] ${name}: certificates and users that are right, and others`,
    { skip },
    async (t) => {
      const ca = await makePair({ name: 'test authority', isIssuer: true });
      const other = await makePair({ name: 'another authority', isIssuer: true });
      const wrong = [
        ['of another authority', await makePair({ issuer: other }), /unable to verify|self-signed|issuer/],
        ['expired', await makePair({ issuer: ca, fromDays: -20, untilDays: -2 }), /certificate has expired/],
        ['for another name', await makePair({ issuer: ca, name: 'other.lan' }), /does not match/],
      ] as const;
      for (const [what, pair, reason] of wrong) {
        const broker = await start(t, pair, ca);
        const { hub, logs } = await startBoth(t, broker.port, ca);
        await until(() => logs().every((log) => reason.test(log)));
        for (const log of logs()) {
          t.match(log, reason, what);
          t.notMatch(log, /connected to/, what);
          t.notMatch(log, /-password-1/, 'no password is logged');
        }
        t.same(await hub.hosts(), []);
      }
      const broker = await start(t, await makePair({ issuer: ca }), ca);
      const { hub, media, startThief, logs } = await startBoth(t, broker.port, ca);
      const stream = await watch(hub, 'pc', '?fields=cpu');
      await stream.next();
      await stream.next();
      const mute = async () =>
        await ask(hub.port, '/api/hosts/pc/media/control', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: '{"action":"mute"}',
        });
      t.equal((await mute()).status, 200);
      t.notMatch(logs().join('\n'), /refuses|refused/);
      // The user of another machine is no hub, and speaks for no other machine; a hub is no machine, and no other hub.
      const thief = await startThief('hub2');
      await until(() => /connected to/.test(thief.log.join('\n')));
      const open = (user: User, clientId: string) => {
        const login = { username: user, password: PASSWORDS[user], ca: ca.cert };
        const witness = new Witness(`mqtts://localhost:${broker.port}`, {
          ...login,
          clientId,
          protocolVersion: 4,
        });
        t.teardown(() => witness.client.end(true));
        return {
          witness,
          listen: async (topic: string) =>
            await witness.client.subscribeAsync(topic, { qos: 0 }).catch(() => undefined),
          forge: async (topic: string, payload = 'forged') => {
            for (const retain of [false, true]) await witness.say(topic, payload, { qos: 0, retain });
          },
        };
      };
      const [machine, rival] = [open('nas', 'nas'), open('hub1', 'other hub')];
      for (const topic of ['pc/in/hub1', 'pc/out/hub1', '+/out/hub1', '+/in/+', 'pc/status', 'nas/in/+', '#'])
        await machine.listen(`hostwire/${topic}`);
      for (const topic of ['+/status', '+/out/hub1', '+/out/hub2', '+/out/+', 'pc/in/hub1', 'nas/in/+'])
        await rival.listen(`hostwire/${topic}`);
      for (const topic of ['pc/status', 'pc/out/hub1', 'pc/out/hub2'])
        await machine.forge(`hostwire/${topic}`);
      await machine.forge('hostwire/pc/in/hub1', `${'x'.repeat(16)} 0\n`);
      await machine.witness.say('hostwire/nas/status', 'marker', { qos: 0 });
      await rival.witness.waitFor('hostwire/nas/status', 'marker');
      for (const topic of ['pc/status', 'pc/out/hub1', 'nas/in/hub2']) await rival.forge(`hostwire/${topic}`);
      await rival.witness.say('hostwire/nas/in/hub1', 'marker', { qos: 0 });
      await machine.witness.waitFor('hostwire/nas/in/hub1', 'marker');
      const late = open('hub1', 'late hub');
      await late.listen('hostwire/+/status');
      await late.witness.waitFor('hostwire/pc/status', /"online"/);
      t.equal((await mute()).status, 200);
      for (const { heard } of [machine.witness, rival.witness, late.witness])
        t.notOk(
          heard.find(({ text }) => text.includes('forged')),
          'no forged message arrives',
        );
      t.same([...new Set(machine.witness.heard.map(({ topic }) => topic))], ['hostwire/nas/in/hub1']);
      t.notOk(rival.witness.heard.find(({ topic }) => /\/in\/|hub2$/.test(topic)));
      t.same(await thief.hosts(), [], 'it sees no machine');
      t.notMatch(hub.log.join('\n'), /host pc is (?!up)/, 'its session was not ended');
      t.equal(media.controls.length, 2);
      const count = stream.count();
      await until(() => stream.count() > count);
    },
  );
