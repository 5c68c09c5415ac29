/** A broker that repeats what it was sent, at once and later: nothing is done twice. And floods, of hubs and of messages. */
import process from 'node:process';
import mqtt from 'mqtt';
import t from 'tap';
import { brokerOf } from '#src/mqtt/broker-socket.js';
import { Connection } from '#src/mqtt/connection.js';
import { ask } from '../../../helpers/clients/http.ts';
import { until } from '../../../helpers/until.ts';
import { EVERYTHING, startBrokerHub, startMachine, testMosquitto } from '../../../hub/broker/setup.ts';
import { isUp, watch } from '../../../hub/setup.ts';
import { startRepeater } from '../repeater.ts';

t.setTimeout(280_000);

const mute = async (port: number) =>
  await ask(port, '/api/hosts/pc/media/control', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"action":"mute"}',
  });

testMosquitto(
  t,
  '[I.hub.mqtt.once] payloads that arrive twice, and sessions that come back',
  async (t, broker) => {
    const repeater = await startRepeater(t, broker.url);
    const { media } = await startMachine(t, broker);
    const first = await startBrokerHub(t, broker.url, EVERYTHING);
    const stream = await watch(first, 'pc', '?fields=cpu');
    for (let count = 1; count <= 3; count++) {
      t.equal((await mute(first.port)).status, 200);
      t.equal(media.controls.length, count);
    }
    await stream.next();
    await stream.next();
    t.equal((await first.host('pc')).state, 'up', 'duplicates end no session');
    const early = [...repeater.passed.values()];
    t.ok(early.length > 10);
    await first.stop();
    // Its sessions again, now before the deadlines of the commands: no new one is begun.
    for (const each of early) repeater.again(each);
    const second = await startBrokerHub(t, broker.url, EVERYTHING);
    await second.host('pc', isUp);
    for (const each of early) repeater.again(each);
    t.equal((await mute(second.port)).status, 200);
    t.equal(media.controls.length, 4, 'once each');
    t.equal((await second.host('pc')).state, 'up');
  },
);

testMosquitto(
  t,
  '[I.hub.mqtt.once] a hub that is killed and started again has a new session',
  async (t, broker) => {
    const repeater = await startRepeater(t, broker.url);
    await startMachine(t, broker);
    const sessions = () =>
      new Set(
        [...repeater.passed.values()]
          .filter(({ topic }) => topic === 'hostwire/pc/out/hub1')
          .map(({ payload }) => payload.toString('latin1', 0, 16)),
      );
    const first = await startBrokerHub(t, broker.url);
    await watch(first, 'pc', '?fields=cpu');
    // Another one with its name takes its place, as after a crash.
    const second = await startBrokerHub(t, broker.url);
    await first.stop();
    await second.host('pc', isUp);
    const stream = await watch(second, 'pc', '?fields=cpu');
    await stream.next();
    t.ok(sessions().size >= 2);
    const before = repeater.passed.size;
    await until(() => repeater.passed.size > before + 2);
    const last = [...repeater.passed.values()]
      .slice(before)
      .map(({ payload }) => payload.toString('latin1', 0, 16));
    t.equal(new Set(last).size, 1, 'samples are sent in the new session alone');
  },
);

testMosquitto(
  t,
  '[I.hub.hostile] at most 16 hubs, and a hub that begins sessions all the time',
  async (t, broker) => {
    const { service } = await startMachine(t, broker);
    const client = mqtt.connect(broker.url, { protocolVersion: 4, reconnectPeriod: 0 });
    t.teardown(() => client.end(true));
    const greeted: string[] = [];
    client.on('message', (topic, payload) => {
      if (/"connected"/.test(payload.toString())) greeted.push(topic.split('/').at(-1) ?? '');
    });
    await client.subscribeAsync('hostwire/pc/out/+', { qos: 0 });
    const open = async (hub: string, number: number) =>
      await client.publishAsync(`hostwire/pc/in/${hub}`, `${String(number).padStart(16, '0')} 0\n`, {
        qos: 1,
      });
    await until(async () => {
      await open('hub0', greeted.length);
      return greeted.includes('hub0') ? true : undefined;
    });
    for (let number = 1; number < 20; number++) await open(`hub${number}`, number);
    await until(() => /more than 16 hubs/.test(service.stderr()));
    await until(() => new Set(greeted).size === 16);
    t.notOk(greeted.includes('hub16'));
    const before = greeted.length;
    for (let number = 100; number < 200; number++) await open('hub1', number);
    await open('hub2', 300);
    await until(() => greeted.slice(before).includes('hub2'));
    const count = greeted.slice(before).filter((hub) => hub === 'hub1').length;
    t.ok(count > 0 && count < 20, `${count} of 100 sessions`);
  },
);

testMosquitto(t, '[I.hub.mqtt] messages to thousands of machines in one turn', async (t, broker) => {
  const warnings: string[] = [];
  const note = ({ message }: Error) => void warnings.push(message);
  process.on('warning', note);
  t.teardown(() => process.off('warning', note));
  const results = await new Promise<readonly PromiseSettledResult<void>[]>((resolve) => {
    const connection = new Connection({
      broker: brokerOf(broker.url, { username: undefined, password_file: undefined, ca: undefined }, 'burst'),
      version: 5,
      will: undefined,
      onReady: () => {
        const send = (id: number) => connection.send(`hostwire/${id}/in/hub1`, Buffer.alloc(100));
        resolve(Promise.allSettled(Array.from({ length: 4000 }, (_, id) => send(id))));
      },
      onMessage: () => undefined,
      onEnd: () => undefined,
    });
    t.teardown(() => connection.leave());
  });
  t.ok(results.every(({ status }) => status === 'fulfilled'));
  t.same(warnings, [], 'no leak is suspected');
});
