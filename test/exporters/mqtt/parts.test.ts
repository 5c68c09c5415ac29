/** The small parts of the MQTT exporter: lengths of packets, waits, tasks that run again, the id of the machine. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { SleepInhibitor } from '#src/commands/sleep-inhibitor.js';
import { PLACES, QUOTAS } from '#src/fairness/limits.js';
import { identify } from '#src/identity.js';
import { Backoff } from '#src/mqtt/backoff.js';
import { brokerOf } from '#src/mqtt/broker-socket.js';
import { Coalescer } from '#src/mqtt/coalescer.js';
import { PacketLengths } from '#src/mqtt/packets.js';
import { FakeClock, settle } from '../../helpers/fakes/clock.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { mqttPart } from './broker.ts';

const { maxBytes } = QUOTAS.brokerPacket;

const packet = (length: number, body = Buffer.alloc(length)) => {
  const digits: number[] = [];
  let left = length;
  do {
    digits.push((left % 128) + (left >= 128 ? 128 : 0));
    left = Math.floor(left / 128);
  } while (left > 0);
  return Buffer.from([0x30, ...digits, ...body]);
};

t.test('[3.mqtt-long] a packet that is too long is noticed by its head, however it is cut', async (t) => {
  const good = Buffer.concat([packet(0), packet(127), packet(128), packet(20_000), packet(0), packet(1)]);
  for (const size of [5, 7, 1000, good.length]) {
    const lengths = new PacketLengths();
    for (let at = 0; at < good.length; at += size)
      if (!lengths.take(good.subarray(at, at + size))) t.fail(`at ${at} of ${size}`);
    t.notOk(lengths.take(packet(maxBytes + 1, Buffer.alloc(0))), `after parts of ${size}`);
  }
  t.ok(new PacketLengths().take(packet(maxBytes, Buffer.alloc(10))));
  t.notOk(new PacketLengths().take(Buffer.from([0x30, 0x80, 0x80, 0x80, 0x80])), 'no length has five digits');
});

t.test('[3.mqtt-long] a packet in more pieces than a network makes is refused', async (t) => {
  const bytes = [...packet(20_000)].map((byte) => Buffer.from([byte]));
  const lengths = new PacketLengths();
  const refusedAt = bytes.findIndex((byte) => !lengths.take(byte));
  t.equal(refusedAt, PLACES.packetPieces.max + 1, 'pieces of one byte');
  const segments = new PacketLengths();
  const longest = packet(maxBytes);
  for (let at = 0; at < longest.length; at += 536)
    if (!segments.take(longest.subarray(at, at + 536))) t.fail(`at ${at}`);
  const short = new PacketLengths();
  for (let i = 0; i < 2 * PLACES.packetPieces.max; i++)
    for (const byte of packet(1)) if (!short.take(Buffer.from([byte]))) t.fail(`packet ${i}`);
});

t.test(
  '[3.mqtt-backoff] waits grow to a minute, and begin anew after a connection that lasted',
  async (t) => {
    for (const [random, factor] of [
      [0, 0.5],
      [1, 1],
    ] as const) {
      const backoff = new Backoff(() => random);
      const waits = Array.from({ length: 9 }, () => backoff.next(undefined) / factor / 1000);
      t.same(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
      t.equal(backoff.next(10_000) / factor, 1000);
      t.same(
        [1, 2, 3, 4].map(() => backoff.next(100) / factor),
        [2000, 4000, 4000, 4000],
        'two with one id',
      );
      const first = backoff.next(10_000);
      t.ok(first > 0, 'begins anew');
      t.equal(
        backoff.next(undefined, 700),
        Math.max(500, 2000 * factor - 700),
        'what an attempt took counts',
      );
      t.equal(backoff.next(undefined, 10_000), 500, 'and leaves a short wait');
    }
  },
);

t.test('runs of a task do not overlap, and all requests during a run cause one more', async (t) => {
  const clock = new FakeClock();
  const failures: string[] = [];
  let runs = 0;
  let finish: () => void = () => undefined;
  const again = new Coalescer({
    run: async () => {
      runs++;
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      if (runs === 2) throw new Error('failed');
    },
    clock,
    paceMs: 200,
    isActive: () => true,
    onFailure: (reason) => failures.push(reason),
  });
  for (let count = 0; count < 3; count++) again.request();
  t.equal(runs, 1);
  finish();
  await clock.advance(199);
  t.equal(runs, 1, 'not at once');
  await clock.advance(1);
  t.equal(runs, 2);
  finish();
  await settle();
  await clock.advance(1000);
  t.equal(runs, 2, 'nobody asked');
  t.strictSame(failures, ['failed']);
  again.request();
  t.equal(runs, 3);
});

t.test('the reason of a failed run is reported once, until a run succeeds', async (t) => {
  const clock = new FakeClock();
  let reason: string | undefined;
  let isActive = true;
  const reports: string[] = [];
  const task = new Coalescer({
    run: async () => {
      if (reason !== undefined) throw new Error(reason);
    },
    clock,
    paceMs: 200,
    isActive: () => isActive,
    onFailure: (text) => reports.push(text),
  });
  const runWith = async (text?: string) => {
    reason = text;
    task.request();
    await clock.advance(200);
    return reports.splice(0);
  };
  t.strictSame(await runWith('no reading'), ['no reading']);
  t.strictSame(await runWith('no reading'), []);
  t.strictSame(await runWith('no bus'), ['no bus'], 'another one');
  t.strictSame(await runWith(), []);
  t.strictSame(await runWith('no bus'), ['no bus'], 'after a success');
  isActive = false;
  t.strictSame(await runWith('no reading'), [], 'of no interest');
  isActive = true;
  t.strictSame(await runWith('no reading'), ['no reading'], 'and not taken for reported');
});

t.test(
  '[3.mqtt-id] the id is configured, or a digest that does not show the id of the machine',
  async (t) => {
    const root = emptyFolder(t, 'id');
    const of = (id?: string) => identify({ id, root }, 'pc');
    t.equal(of('my-pc'), 'my-pc');
    const byName = of();
    t.match(byName, /^[0-9a-f]{16}$/);
    t.equal(identify({ id: undefined, root }, 'pc'), byName);
    t.not(identify({ id: undefined, root }, 'pc2'), byName);
    mkdirSync(path.join(root, 'etc'));
    writeFileSync(path.join(root, 'etc/machine-id'), '0123456789abcdef0123456789abcdef\n');
    const own = of();
    t.match(own, /^[0-9a-f]{16}$/);
    t.not(own, byName);
    t.notOk('0123456789abcdef0123456789abcdef'.includes(own));
    writeFileSync(path.join(root, 'etc/machine-id'), 'uninitialized\n');
    t.equal(of(), byName, 'what is no id is none');
  },
);

t.test('the broker by its URL', async (t) => {
  const of = (url: string) => brokerOf(url, mqttPart(url), 'pc');
  t.match(of('mqtt://a'), { host: 'a', port: 1883, isSecure: false, name: 'mqtt://a:1883' });
  t.match(of('mqtts://a/'), { host: 'a', port: 8883, isSecure: true, clientId: 'hostwire-pc' });
  t.match(of('mqtt://[::1]:99'), { host: '::1', port: 99, name: 'mqtt://[::1]:99' });
});

t.test('[3.mqtt-publish-key] a sleep waits for both connections', async (t) => {
  const said: string[] = [];
  const holds = new SleepInhibitor({
    delaySleep: async () => void said.push('delay'),
    allowSleep: () => said.push('allow'),
  });
  const [home, hub] = [{}, {}];
  holds.hold(home);
  holds.hold(hub);
  holds.release(home);
  t.same(said, ['delay', 'delay']);
  holds.release(hub);
  t.same(said, ['delay', 'delay', 'allow']);
});
