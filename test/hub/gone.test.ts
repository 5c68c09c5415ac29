/** The last sample of a machine that is gone: how much of it is kept. */
import process from 'node:process';
import t from 'tap';
import { createCounters, type RemoteDeps } from '#src/agent/remote/deps.js';
import { HostSample } from '#src/agent/remote/sample.js';
import { TIMES } from '#src/agent/remote/times.js';
import { Upstream } from '#src/agent/remote/upstream.js';
import { Quota } from '#src/fairness/quota.js';
import { ALL_SECTIONS, SECTION_BITS } from '#src/host/host.js';
import { SCRIPT_HEAP } from '#src/http/connections/heap.js';
import { Listeners } from '#src/listeners.js';
import { createLog } from '#src/log/log.js';
import { type View, viewOf } from '#src/stats/view.js';
import type { MachineSink } from '#src/streams/sample.js';
import { SampleBroadcast, ShardQueue } from '#src/viewers/socket/sample-broadcast.js';
import { FakeClock } from '../helpers/fakes/clock.ts';

const MIB = 2 ** 20;

/** The memory of this process that is in use. What the first collection frees may have held buffers. */
function collectedBytes(): number {
  SCRIPT_HEAP.collect();
  SCRIPT_HEAP.collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** As long as an event of a stream may be. */
const SAMPLE_BYTES = MIB;

/** An upstream of a machine that is up, with sockets. */
function play() {
  const clock = new FakeClock();
  const deps: RemoteDeps = {
    name: 'hub1',
    clock,
    times: TIMES,
    quota: new Quota(),
    log: createLog(() => undefined),
    counters: createCounters(),
    conditions: new Listeners<readonly [id: string]>(),
    random: () => 0.5,
  };
  const owner = {
    isUp: true,
    changed: () => undefined,
    onInterest: () => undefined,
    refusal: () => {
      throw new Error('nobody asks');
    },
  };
  const upstream = new Upstream(deps, owner, false);
  const published: number[] = [];
  const defer = (run: () => void) => run();
  const sockets = {
    createTopic: () => 'topic',
    tracksMembers: true,
    publisher: { publish: (_: string, bytes: Buffer) => void published.push(bytes.length) },
    counters: { sent: 0 },
    queue: new ShardQueue(defer),
    now: () => 0,
    defer,
  };
  const machine = {
    id: 'pc',
    subscribe: (view: View, sink: MachineSink) => upstream.subscribe(view, sink),
  } as SampleBroadcast['machine']; // Nothing else of it is used.
  /** One socket joins those of `sections`. */
  const join = (sections: number) =>
    new SampleBroadcast(machine, viewOf(sections, false), 0, sockets).join({
      isNamed: true,
      isFull: false,
      begin: () => undefined,
      missSample: () => undefined,
    });
  join(ALL_SECTIONS);
  upstream.ask();
  return { clock, upstream, published, join };
}

function sampleOf(clock: FakeClock): HostSample {
  const json = `{"timestamp":1,"more":"${'x'.repeat(SAMPLE_BYTES - 100)}"}`;
  const member = { key: '', start: 'data: {'.length, end: 'data: '.length + json.length - 1 };
  return new HostSample(Buffer.from(`data: ${json}\n\n`), ALL_SECTIONS, clock.now(), [member]);
}

t.test('a machine that is gone keeps no memory of the hub', async (t) => {
  const { clock, upstream, published, join } = play();
  join(SECTION_BITS.cpu);
  const before = collectedBytes();
  upstream.take(sampleOf(clock));
  t.ok((published[0] ?? 0) > SAMPLE_BYTES / 2, 'it was sent');
  t.ok(collectedBytes() - before >= SAMPLE_BYTES, 'a sample that is shown is kept');
  const takenAtMs = clock.now();
  await clock.advance(5000);
  upstream.lost();
  t.equal(upstream.current, undefined);
  t.equal(upstream.takenAtMs, takenAtMs, 'when it was taken is known');
  const kept = collectedBytes() - before;
  t.ok(kept < MIB / 2, `${(kept / MIB).toFixed(1)} MiB`);
});

t.test('a long sample in many views takes a bounded memory', async (t) => {
  const { clock, upstream, join } = play();
  for (let sections = 0; sections < 32; sections++) join(sections);
  const before = collectedBytes();
  upstream.take(sampleOf(clock));
  const kept = collectedBytes() - before;
  // The sample and its views of up to 16 MiB; their messages are not kept.
  t.ok(kept < 20 * MIB, `${(kept / MIB).toFixed(1)} MiB`);
  t.ok(upstream.current !== undefined);
});
