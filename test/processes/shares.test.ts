/** Figures from two readings of processes: shares of the machine, reuse of pids, the few rows of a detailed sample. */
import t from 'tap';
import { rowOf } from '#src/host/process-columns.js';
import type { ProcessColumns } from '#src/host/processes.js';
import { advanceWindow, deriveProcessSummary, sharesOf } from '#src/processes/shares.js';
import { processColumns } from '../helpers/fakes/process-columns.ts';

const MIB = 1024 * 1024;
const S = 1e9;

t.test('[3.detail-processes] the share is that of the whole machine between two readings', async (t) => {
  const before = processColumns(10, [
    { pid: 1, cpu: 50 },
    { pid: 7, cpu: 100 },
  ]);
  const after = processColumns(12, [
    { pid: 1, cpu: 50 },
    { pid: 5, cpu: 4000 },
    { pid: 7, cpu: 300 },
  ]);
  const shares = sharesOf({ before, after });
  // Two processors for two seconds are 400 ticks.
  t.strictSame([...(shares ?? [])], [0, Number.NaN, 50], 'one that is new has no share yet');
  t.equal(sharesOf({ before: undefined, after }), null, 'nor has anything in a first reading');
  t.equal(sharesOf({ before: after, after }), null, 'no time has passed');
  t.equal(sharesOf({ before: { ...before, machineTicks: null }, after }), null, 'the machine does not say');
});

t.test('[3.processes-reuse] a pid that belongs to another process now has no window', async (t) => {
  const before = processColumns(10, [{ pid: 7, cpu: 1000, start: 100 }]);
  const after = processColumns(11, [{ pid: 7, cpu: 3, start: 900 }]);
  t.strictSame([...(sharesOf({ before, after }) ?? [])], [Number.NaN]);
  const summary = deriveProcessSummary({ before, after });
  t.strictSame(summary.top_cpu, []);
});

t.test(
  '[3.processes-reuse] a count that stepped back is unusable, one beyond the machine counts as all of it',
  async (t) => {
    const before = processColumns(10, [
      { pid: 1, cpu: 500 },
      { pid: 2, cpu: 0 },
    ]);
    const after = processColumns(11, [
      { pid: 1, cpu: 400 },
      { pid: 2, cpu: 900 },
    ]);
    t.strictSame([...(sharesOf({ before, after }) ?? [])], [0, 100]);
  },
);

t.test('[3.detail-processes] count, running, and five of each', async (t) => {
  const make = (seconds: number, spent: number) =>
    processColumns(
      seconds,
      Array.from({ length: 8 }, (_, i) => ({
        pid: i + 1,
        name: `app${i}`,
        state: i < 3 ? 'R' : 'D',
        cpu: 1000 + i * spent,
        memory: (20 - i) * MIB,
      })),
    );
  const window = { before: make(10, 0), after: make(20, 100) };
  const summary = deriveProcessSummary(window);
  t.strictSame({ count: summary.count, running: summary.running }, { count: 8, running: 3 });
  t.strictSame(
    summary.top_cpu?.map(({ name, cpu }) => [name, cpu]),
    [
      ['app7', 35],
      ['app6', 30],
      ['app5', 25],
      ['app4', 20],
      ['app3', 15],
    ],
  );
  t.strictSame(summary.top_memory[0], {
    name: 'app0',
    pid: 1,
    memory: 20 * MIB,
    memory_mb: 20,
    cpu_time: 10,
    cpu: 0,
  });
  t.strictSame(
    summary.top_memory.map(({ name }) => name),
    ['app0', 'app1', 'app2', 'app3', 'app4'],
  );
  const first = deriveProcessSummary({ before: undefined, after: make(10, 0) });
  t.equal(first.top_cpu, null, 'a first reading knows no shares');
  t.equal(first.top_memory[0]?.cpu, null);
});

t.test('[3.detail-processes] idle processes are not among the top ones', async (t) => {
  const idle = (seconds: number) => processColumns(seconds, [{ pid: 1, cpu: 5, memory: 0 }]);
  const summary = deriveProcessSummary({ before: idle(1), after: idle(2) });
  t.strictSame(summary.top_cpu, []);
  t.strictSame(summary.top_memory, [], 'a thread of the kernel has no memory');
});

t.test('equals stand in the order of their numbers', async (t) => {
  const columns = processColumns(
    1,
    [9, 3, 7, 5, 8, 6].sort().map((pid) => ({ pid, memory: 5 })),
  );
  t.strictSame(
    deriveProcessSummary({ before: undefined, after: columns }).top_memory.map(({ pid }) => pid),
    [3, 5, 6, 7, 8],
  );
});

t.test('which reading a window begins with', async (t) => {
  const at = (seconds: number): ProcessColumns => processColumns(seconds, [{ pid: 1 }]);
  const [a, b, c, d] = [at(1), at(3), at(3.1), at(60)];
  const first = advanceWindow(undefined, a, 10 * S);
  t.strictSame(first, { before: undefined, after: a });
  t.equal(advanceWindow(first, a, 10 * S), first, 'the same reading picked up again');
  const second = advanceWindow(first, b, 10 * S);
  t.strictSame(second, { before: a, after: b });
  t.strictSame(advanceWindow(second, c, 10 * S), { before: a, after: c }, 'soon after: the window grows');
  t.strictSame(advanceWindow(second, d, 10 * S), { before: undefined, after: d }, 'after a pause: a new one');
});

t.test('a process is found by its number', async (t) => {
  const columns = processColumns(1, [{ pid: 1 }, { pid: 5 }, { pid: 9 }]);
  t.strictSame(
    [0, 1, 4, 5, 9, 10].map((pid) => rowOf(columns, pid)),
    [undefined, 0, undefined, 1, 2, undefined],
  );
  t.equal(rowOf(processColumns(1, []), 1), undefined);
});
