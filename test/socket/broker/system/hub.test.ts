/** A hub at real brokers, with machines that a test plays: who is there, what it asks for, and what it does with faults. */
import t from 'tap';
import type { BrokerEntry } from '#src/config/rows/mqtt-rows.js';
import { payloadOf as sampleOf } from '../../../helpers/clients/event-stream.ts';
import { ask } from '../../../helpers/clients/http.ts';
import { until } from '../../../helpers/until.ts';
import {
  BROKERS,
  BrokerMachine,
  brokerPart,
  EVERYTHING,
  startBrokerHub,
  testBrokers,
  testMosquitto,
} from '../../../hub/broker/setup.ts';
import { accepted, frameOf, PlayedMachine } from '../../../hub/played-machine.ts';
import { fleetEvents, isDown, isUp, startHub, watch } from '../../../hub/setup.ts';

t.setTimeout(280_000);

const mute = async (port: number) =>
  await ask(port, '/api/hosts/pc/media/control', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ action: 'mute' }),
  });

testBrokers(t, '[I.hub.mqtt.presence] a session with each machine that is online', async (t, broker) => {
  const played = new PlayedMachine();
  played.machine = { ...played.machine, name: 'desk', labels: { site: 'berlin' } };
  // One is there before the hub, one comes later, and of one the broker has kept the status.
  const ghost = await BrokerMachine.start(t, broker.url, 'ghost', new PlayedMachine());
  await ghost.client.unsubscribeAsync('hostwire/ghost/in/+');
  const early = await BrokerMachine.start(t, broker.url, 'pc', played);
  const hub = await startBrokerHub(t, broker.url, {}, { headMs: 1000 });
  t.match(await hub.host('pc', isUp), { name: 'desk', labels: { site: 'berlin' } });
  const late = await BrokerMachine.start(t, broker.url, 'late');
  await hub.host('late', isUp);
  t.match(await hub.host('ghost', ({ reason }) => reason === 'no answer in time'), { state: 'unknown' });
  t.equal(early.sessions.length, 1);

  await late.status('offline');
  t.match(await hub.host('late', isDown), { reason: 'its service is offline' });
  await late.status('online');
  await hub.host('late', isUp);
  early.cut();
  t.match(await hub.host('pc', isDown), { reason: 'its service is offline' }, 'by its last will');
  // A status that is cleared away is a machine that is gone.
  await late.status('');
  await until(async () => (await hub.hosts()).every(({ id }) => id !== 'late'));
});

testBrokers(
  t,
  '[I.hub.mqtt.samples] it asks for what viewers want, and passes that on',
  async (t, broker) => {
    const machine = await BrokerMachine.start(t, broker.url, 'pc');
    const { machine: played } = machine;
    const hub = await startBrokerHub(t, broker.url);
    await hub.host('pc', isUp);
    t.same(played.queries, [], 'nothing is wanted');
    const opening = hub.open('/api/hosts/pc/stream?fields=cpu');
    await until(() => played.queries.includes('cpu'));
    played.sample({ timestamp: 1, uptime: 2, cpu: { a: 1 } });
    const stream = await opening;
    t.same(sampleOf(await stream.next()), { timestamp: 1, uptime: 2, cpu: { a: 1 } });
    // The sample of a large machine.
    const long = { a: 'x'.repeat(700_000) };
    played.sample({ timestamp: 3, uptime: 2, cpu: long });
    t.same(sampleOf(await stream.next()), { timestamp: 3, uptime: 2, cpu: long });
    stream.close();
    await until(() => played.streams === 0);
  },
);

testMosquitto(t, '[I.hub.mqtt.once] a gap, a duplicate, and frames of another session', async (t, broker) => {
  const machine = await BrokerMachine.start(t, broker.url, 'pc', new PlayedMachine(() => accepted()));
  const { machine: played } = machine;
  const hub = await startBrokerHub(t, broker.url, EVERYTHING);
  const stream = await watchSamples(t, machine, hub);
  const [session = ''] = machine.sessions;
  // The greeting again, and a sample of another session.
  await machine.raw(`${session} 0\n${frameOf('connected', { ...played.connected, run: 'other' })}`);
  await machine.raw(`${'x'.repeat(16)} 2\n${frameOf('system_stats', { timestamp: 9 })}`);
  await machine.raw('nonsense');
  played.sample({ timestamp: 2, uptime: 2, cpu: {} });
  t.equal(sampleOf(await stream.next())['timestamp'], 2);
  await machine.raw(`${session} 999\n{}`);
  await until(() => machine.sessions[0] !== session, 'another session');
  await hub.host('pc', isUp);
  await until(() => played.streams === 1);
  played.sample({ timestamp: 3, uptime: 2, cpu: {} });
  await until(async () => sampleOf(await stream.next())['timestamp'] === 3);
  t.equal((await mute(hub.port)).status, 200);
  t.equal(played.at('media.mute').length, 1);
});

testMosquitto(t, '[I.hub.mqtt.once] what is kept for later is no frame', async (t, broker) => {
  const machine = await BrokerMachine.start(t, broker.url, 'pc');
  await machine.client.publishAsync('hostwire/pc/out/hub1', 'x'.repeat(16), { qos: 1, retain: true });
  const hub = await startBrokerHub(t, broker.url);
  await hub.host('pc', isUp);
  t.equal(machine.sessions.length, 1);
});

testMosquitto(t, '[I.hub.mqtt.presence] a machine that falls silent, and comes back', async (t, broker) => {
  const machine = await BrokerMachine.start(t, broker.url, 'pc');
  const hub = await startBrokerHub(t, broker.url, {}, { quietMs: 300, headMs: 1000 });
  const stream = await watchSamples(t, machine, hub);
  machine.machine.isAnswering = false;
  t.match(await hub.host('pc', isDown), { reason: 'no message within the timeout' });
  machine.machine.isAnswering = true;
  await hub.host('pc', isUp);
  t.notOk(stream.isEnded);
});

testMosquitto(
  t,
  '[I.hub.mqtt.labels] the fleet follows the labels that machines greet with',
  async (t, broker) => {
    const hub = await startBrokerHub(t, broker.url);
    const berlin = await hub.open('/api/fleet/stream?fields=cpu&label=site:berlin');
    const played = new PlayedMachine();
    played.machine = { ...played.machine, labels: { site: 'berlin' } };
    const machine = await BrokerMachine.start(t, broker.url, 'pc', played);
    await until(() => fleetEvents(berlin).some(({ hosts }) => hosts['pc'] !== undefined));
    await until(() => played.streams === 1);
    played.sample({ timestamp: 1, uptime: 2, cpu: {} });
    await until(() => fleetEvents(berlin).some(({ hosts }) => hosts['pc']?.sample !== undefined));
    played.machine = { ...played.machine, labels: { site: 'paris' } };
    await machine.status('online');
    await until(() => fleetEvents(berlin).some(({ removed }) => removed.includes('pc')));
    await until(() => played.streams === 0, 'no viewer watches it now');
  },
);

testMosquitto(t, '[I.hub.mqtt.presence] asleep, by its farewell', async (t, broker) => {
  const machine = await BrokerMachine.start(t, broker.url, 'pc');
  const hub = await startBrokerHub(t, broker.url);
  await hub.host('pc', isUp);
  machine.machine.say('closing', { reason: 'sleep' });
  await machine.status('offline');
  t.match(await hub.host('pc', ({ state }) => state === 'asleep'), { reason: 'it sleeps' });
  await machine.status('online');
  await hub.host('pc', isUp);
});

testMosquitto(t, '[I.hub.mqtt] an id in hub.agents is not taken from the broker', async (t, broker) => {
  await BrokerMachine.start(t, broker.url, 'pc');
  const hub = await startBrokerHub(t, broker.url);
  await hub.host('pc', isUp);
  const nowhere = { pc: { url: 'http://127.0.0.1:9' } };
  const config = brokerPart(broker.url);
  hub.reconfigure(nowhere, config);
  await hub.host('pc', ({ reason }) => reason === 'connection refused');
  hub.reconfigure({}, config);
  await hub.host('pc', isUp);
  hub.reconfigure({}, brokerPart(broker.url, {}, { topic: 'elsewhere' }));
  await until(async () => (await hub.hosts()).length === 0);
});

t.test(
  '[I.hub.mqtt.several] machines at mosquitto and at nats-server, and one that moves from one to the other',
  { skip: BROKERS.map(({ skip }) => skip).find(Boolean) ?? false },
  async (t) => {
    const brokers = await Promise.all(BROKERS.map(({ start }) => start(t)));
    const [mosquitto, nats] = brokers.map(({ url }) => url) as [string, string];
    const entryOf = (url: string) => brokerPart(url).hub?.brokers?.['room'] as BrokerEntry;
    const both = { hub: { brokers: { m: entryOf(mosquitto), n: entryOf(nats) } } };
    const hub = await startHub(t, {}, both);
    const moving = await BrokerMachine.start(t, mosquitto, 'pc');
    await BrokerMachine.start(t, nats, 'nas');
    for (const id of ['pc', 'nas']) await hub.host(id, isUp);
    moving.client.end(true);
    await hub.host('pc', isDown);
    await BrokerMachine.start(t, nats, 'pc');
    await hub.host('pc', isUp);
    t.equal((await hub.hosts()).length, 2, 'it is one machine');
    hub.reconfigure({}, { hub: { brokers: { n: both.hub.brokers.n } } });
    await until(() => hub.log.every((line) => !/host nas is down/.test(line)));
    t.same(
      (await hub.hosts()).map(({ id, state }) => [id, state]),
      [
        ['nas', 'up'],
        ['pc', 'up'],
      ],
    );
  },
);

/** A stream of the processor that has its first sample. */
async function watchSamples(
  t: Parameters<typeof startBrokerHub>[0],
  { machine }: BrokerMachine,
  hub: Awaited<ReturnType<typeof startBrokerHub>>,
) {
  await hub.host('pc', isUp);
  const opening = watch(hub, 'pc', '?fields=cpu');
  await until(() => machine.streams === 1);
  machine.sample({ timestamp: 1, uptime: 2, cpu: {} });
  const stream = await opening;
  t.teardown(() => stream.close());
  await stream.next();
  return stream;
}
