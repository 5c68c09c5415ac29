/** How much of the last sample of a gone machine, and how long its answers, are kept. */
import process from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import t from 'tap';
import { OWN_ACCOUNT } from '#src/access/caller.js';
import { ServiceError } from '#src/errors.js';
import { ALL_SECTIONS, SECTION_BITS } from '#src/host/host.js';
import { SCRIPT_HEAP } from '#src/http/connections/heap.js';
import { TIMES } from '#src/machine/remote-deps.js';
import { RemoteSamples } from '#src/machine/remote-samples.js';
import { SharedAnswers } from '#src/machine/shared-answers.js';
import { type View, viewOf } from '#src/stats/view.js';
import type { MachineSink } from '#src/streams/sample.js';
import { SampleBroadcast, ShardQueue } from '#src/viewers/socket/sample-broadcast.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { EMPTY } from './played-machine.ts';

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

/** The samples of a machine that is up, with sockets. */
function play() {
  const clock = new FakeClock();
  const isUp = { isUp: true, want: () => undefined, refusal: () => new ServiceError('internal_error', '') };
  const samples = new RemoteSamples({ clock, times: TIMES }, isUp);
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
    subscribe: (view: View, sink: MachineSink) => samples.subscribe(view, sink),
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
  /** It sends a long sample. */
  const take = () => samples.take({ timestamp: 1, ...EMPTY, more: 'x'.repeat(SAMPLE_BYTES - 300) });
  return { clock, samples, published, join, take };
}

t.test('a machine that is gone keeps no memory of the hub', async (t) => {
  const { clock, samples, published, join, take } = play();
  join(SECTION_BITS.cpu);
  const before = collectedBytes();
  t.equal(take(), undefined);
  t.ok((published[0] ?? 0) > SAMPLE_BYTES / 2, 'it was sent');
  t.ok(collectedBytes() - before >= SAMPLE_BYTES, 'a sample that is shown is kept');
  const takenAtMs = clock.now();
  await clock.advance(5000);
  samples.lost(new ServiceError('host_unreachable', 'It is gone.'));
  t.equal(samples.newest, undefined);
  t.equal(samples.takenAtMs, takenAtMs, 'when it was taken is known');
  const kept = collectedBytes() - before;
  t.ok(kept < MIB / 2, `${(kept / MIB).toFixed(1)} MiB`);
});

t.test('a long sample in many views takes a bounded memory', async (t) => {
  const { samples, join, take } = play();
  for (let sections = 0; sections < 32; sections++) join(sections);
  const before = collectedBytes();
  t.equal(take(), undefined);
  const kept = collectedBytes() - before;
  // The sample and its views of up to 16 MiB; their messages are not kept.
  t.ok(kept < 20 * MIB, `${(kept / MIB).toFixed(1)} MiB`);
  t.ok(samples.newest !== undefined);
});

function setUp(delayMs: number) {
  const clock = new FakeClock();
  let asked = 0;
  const send = async () => {
    const bytes = Buffer.from(String(asked++));
    await new Promise<void>((resolve) => clock.setTimer(resolve, delayMs));
    return { bytes };
  };
  const answers = new SharedAnswers(clock);
  const ask = (what: string) =>
    answers.ask({ what, params: {}, client: OWN_ACCOUNT, deadlineMs: 60_000 }, send);
  return { clock, answers, ask, asked: () => asked };
}

t.test(
  '[I.hub.usage] a sample is kept for 0.9 s: a request each second gets a new one each time',
  async (t) => {
    for (const delayMs of [0, 40, 300, 700]) {
      const { clock, ask } = setUp(delayMs);
      const answers: string[] = [];
      for (let polls = 0; polls < 12; polls++) {
        void ask('usage').then(({ bytes }) => answers.push(bytes.toString()));
        await clock.advance(800);
        void ask('usage').then(({ bytes }) => t.equal(bytes.toString(), String(polls), 'shared until then'));
        await clock.advance(200);
      }
      t.equal(new Set(answers).size, 12, `from an agent that answers after ${delayMs} ms`);
    }
  },
);

t.test('[I.hub.usage] requests while an answer is awaited share it, however long that takes', async (t) => {
  const { clock, ask, asked } = setUp(5000);
  const first = ask('usage');
  await clock.advance(4900);
  const second = ask('usage');
  await clock.advance(100);
  t.equal(await second, await first);
  t.equal(asked(), 1);
  const third = ask('usage');
  await clock.advance(5000);
  t.equal((await third).bytes.toString(), '1');
});

t.test('[I.hub.kept] an old answer keeps no memory after the next look at its machine', async (t) => {
  v8.setFlagsFromString('--expose-gc');
  const collect: () => void = vm.runInNewContext('gc');
  const { clock, answers } = setUp(0);
  const make = async () => ({ bytes: Buffer.alloc(64) });
  const request = { what: 'usage', params: {}, client: OWN_ACCOUNT, deadlineMs: 60_000 };
  const answer = new WeakRef((await answers.ask(request, make)).bytes);
  t.equal(clock.timers, 0, 'no timer per machine');
  answers.rest(clock.now() + 60_000);
  // A WeakRef keeps its target for the rest of the turn.
  await turn();
  collect();
  t.equal(answer.deref(), undefined);
});
