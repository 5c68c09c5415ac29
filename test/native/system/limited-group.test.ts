/** Limits that the kernel enforces: a program in a real control group, of whichever version this machine has. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { LimitCounters } from '#src/host/details.js';
import { LIMITS } from '#src/stats/limits.js';
import { LimitedGroup, whyNoGroup } from '../../helpers/machine/limited-group.ts';
import { at } from '../../stats/literals.ts';

const PROGRAM = path.join(import.meta.dirname, 'limit-reader.js');
const MIB = 1024 ** 2;
const FACTS = { interval_seconds: 2, host: 'box' };

// The program starts with a quarter of a processor.
t.setTimeout(180_000);

/** A program that reads its own limits. `ask` sends it a line; its answer may be from before that. */
function startReader(t: Test) {
  const reader = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(reader, 'exit');
  t.teardown(async () => {
    reader.stdin.end();
    await ended;
  });
  if (reader.pid === undefined) throw new Error('not started');
  const lines = createInterface({ input: reader.stdout });
  const ask = async (line = ''): Promise<LimitCounters | null> => {
    const answer = once(lines, 'line');
    reader.stdin.write(`${line}\n`);
    return JSON.parse(String((await answer)[0]));
  };
  /** Asks until an answer is `wanted`; a minute without one fails the test. */
  const until = async (wanted: (limits: LimitCounters) => boolean) => {
    const end = performance.now() + 60_000;
    const answers: LimitCounters[] = [];
    while (performance.now() < end) {
      const limits = await ask();
      if (limits !== null) answers.push(limits);
      if (limits !== null && wanted(limits)) return { limits, answers };
      await sleep(20);
    }
    throw new Error(`not found: ${JSON.stringify(answers.at(-1))}`);
  };
  return { pid: reader.pid, ask, until };
}

t.test(
  '[3.limits] the limits of an ancestor, what is used, and how often the processor time was used up',
  { skip: whyNoGroup() },
  async (t) => {
    const outer = new LimitedGroup(t);
    const inner = new LimitedGroup(t, outer);
    outer.limit(256 * MIB, 0.25);
    const reader = startReader(t);
    inner.take(reader.pid);
    const { limits: first } = await reader.until(({ memoryUsedBytes }) => (memoryUsedBytes ?? 0) > 0);
    t.match(first, { memoryBytes: 256 * MIB, cpus: 0.25, failure: null });
    t.ok((first.memoryUsedBytes ?? 0) <= 256 * MIB, `${first.memoryUsedBytes} bytes`);
    t.equal(first.throttling?.group, outer.folder('cpu'));

    const before = outer.stat('nr_throttled');
    await reader.ask('burn');
    const { limits: second } = await reader.until(
      ({ throttling }) => (throttling?.throttledPeriods ?? 0) > before,
    );
    const throttled = second.throttling?.throttledPeriods ?? 0;
    const periods = second.throttling?.periods ?? 0;
    t.ok(throttled <= outer.stat('nr_throttled'), `${throttled} periods`);
    t.ok(throttled <= periods && periods <= outer.stat('nr_periods'), `of ${periods}`);
    const derived = LIMITS.derive(at(2, { limits: second }), FACTS, { limits: first });
    t.match(derived, { memory_bytes: 256 * MIB, cpus: 0.25 });
    const share = derived?.throttled_percent ?? 0;
    t.ok(share > 0 && share <= 100, `${share} %`);
  },
);

t.test(
  '[3.limits] a service that is moved while its old group is removed has the new limits, and no failure',
  { skip: whyNoGroup() },
  async (t) => {
    const first = new LimitedGroup(t);
    const second = new LimitedGroup(t);
    first.limit(256 * MIB, 0.5);
    second.limit(384 * MIB, 0.75);
    const reader = startReader(t);
    first.take(reader.pid);
    await reader.until(({ memoryBytes, cpus }) => memoryBytes === 256 * MIB && cpus === 0.5);
    second.take(reader.pid);
    first.remove();
    const { answers } = await reader.until(({ memoryBytes }) => memoryBytes === 384 * MIB);
    t.match(answers.at(-1), { cpus: 0.75, failure: null });
    t.strictSame(
      answers.filter(({ failure }) => failure !== null),
      [],
    );
  },
);
