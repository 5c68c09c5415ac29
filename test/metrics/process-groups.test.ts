/** Which groups of processes are exported, and that their counters only grow. */
import t from 'tap';
import { ProcessGroups } from '#src/exporters/prometheus/process-groups.js';
import { type ProcessLiteral, processColumns } from '../helpers/fakes/process-columns.ts';

const MIB = 2 ** 20;

/** The values of a family by group. */
function valuesOf(groups: ProcessGroups, family: string): Readonly<Record<string, number>> {
  const found = groups.families().find(({ name }) => name === `hostwire_process_group_${family}`);
  return Object.fromEntries(
    (found?.samples ?? []).map(({ labels, value }) => [labels?.['group'], value ?? Number.NaN]),
  );
}
const cpuOf = (groups: ProcessGroups) => valuesOf(groups, 'cpu_seconds_total');

t.test(
  '[3.metrics-processes] a group has the sums of its processes; kernel threads are in none',
  async (t) => {
    const groups = new ProcessGroups();
    t.strictSame(groups.families(), [], 'nothing before the first reading');
    groups.update(
      processColumns(10, [
        { pid: 2, name: 'kworker/0:1', isKernelThread: true, cpu: 9000 },
        { pid: 10, name: 'browser', cpu: 100, memory: MIB },
        { pid: 11, name: 'browser', cpu: 50, memory: 2 * MIB },
        { pid: 12, name: 'shell', cpu: 0, memory: MIB },
      ]),
    );
    t.strictSame(cpuOf(groups), { browser: 1.5, shell: 0 });
    t.strictSame(valuesOf(groups, 'resident_memory_bytes'), { browser: 3 * MIB, shell: MIB });
    t.strictSame(valuesOf(groups, 'processes'), { browser: 2, shell: 1 });
    t.match(groups.families()[0], { name: 'hostwire_processes', samples: [{ value: 4 }] });
  },
);

t.test('[3.metrics-processes] the counter of a group keeps the time of those that have ended', async (t) => {
  const groups = new ProcessGroups();
  const at = (seconds: number, processes: readonly ProcessLiteral[]) => {
    groups.update(processColumns(seconds, processes));
    return cpuOf(groups)['make'];
  };
  t.equal(at(10, [{ pid: 5, name: 'make', cpu: 100, memory: 1 }]), 1);
  const grown = [
    { pid: 5, name: 'make', cpu: 150, memory: 1 },
    { pid: 6, name: 'make', cpu: 30, memory: 1 },
  ];
  t.equal(at(11, grown), 1.8);
  t.equal(at(11, grown), 1.8, 'the same reading once more');
  t.equal(at(12, [{ pid: 6, name: 'make', cpu: 40, memory: 1 }]), 1.9);
  t.equal(at(13, [{ pid: 6, name: 'make', start: 1300, cpu: 10, memory: 1 }]), 2, 'another with that number');
  t.equal(at(14, []), 2, 'a group without processes stays');
  t.equal(valuesOf(groups, 'processes')['make'], 0);
});

/** 40 groups that are at work one after the other, and one with most memory. */
const work = (busy: number, second: number): readonly ProcessLiteral[] => [
  { pid: 1, name: 'large', memory: 1000 },
  ...Array.from({ length: 40 }, (_, at) => ({
    pid: at + 10,
    name: `job${at}`,
    cpu: at === busy ? second * 100 : 0,
  })),
];

t.test('[3.metrics-processes] a place is kept; at most 32, and the longest idle goes first', async (t) => {
  const groups = new ProcessGroups();
  let names: readonly string[] = [];
  for (let busy = 0; busy < 40; busy++) {
    const second = 10 + busy * 10;
    // Processes with a new pid each time, so that their time does not fall.
    groups.update(processColumns(second, work(busy, second)));
    const now = Object.keys(cpuOf(groups));
    t.ok(
      names.every((name) => now.includes(name)),
      `${second} s: none has gone`,
    );
    names = now;
  }
  t.equal(names.length, 32);
  t.ok(names.includes('large') && names.includes('job0') && !names.includes('job39'));
  // 10 minutes after the last of them was in a top.
  groups.update(processColumns(1100, work(39, 1_000_000)));
  const later = Object.keys(cpuOf(groups));
  t.equal(later.length, 32);
  t.ok(later.includes('job39') && later.includes('large') && !later.includes('job0'));
});

t.test(
  '[3.metrics-processes] the top: five by CPU time since the last reading, five by memory',
  async (t) => {
    const groups = new ProcessGroups();
    const all = (cpu: (at: number) => number) =>
      Array.from({ length: 20 }, (_, at) => ({
        pid: at + 1,
        name: `p${at}`,
        cpu: cpu(at),
        memory: 1000 + at,
      }));
    groups.update(
      processColumns(
        10,
        all(() => 0),
      ),
    );
    t.strictSame(Object.keys(cpuOf(groups)).sort(), ['p15', 'p16', 'p17', 'p18', 'p19']);
    groups.update(
      processColumns(
        20,
        all((at) => (at < 7 ? 40 + 4 * at : 0)),
      ),
    );
    // 5 % of 10 s are 50 ticks: more than p0, p1 and p2 have used.
    t.strictSame(
      Object.keys(cpuOf(groups)).filter((name) => name.length === 2),
      ['p6', 'p5', 'p4', 'p3'],
    );
  },
);
