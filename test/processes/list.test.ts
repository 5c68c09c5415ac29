/** Lists of processes: grouped by name or one by one, sorted, searched, cut. */
import t from 'tap';
import { buildFlatList, buildGroupedList, type ProcessListOptions, selectRows } from '#src/processes/list.js';
import type { ProcessWindow } from '#src/processes/shares.js';
import type { ProcessListPayload } from '#src/wire/process.js';
import { processColumns } from '../helpers/fakes/process-columns.ts';

const MIB = 1024 * 1024;
const ALL: ProcessListOptions = { sort: 'cpu', limit: 1000, query: '', hasDisks: false };

const make = (seconds: number, spent: number) =>
  processColumns(seconds, [
    { pid: 1, name: 'init', ppid: 0, memory: 8 * MIB, cpu: 100 },
    { pid: 5, name: 'Browser', uid: 1000, memory: 300 * MIB, cpu: 500 + spent, threads: 40, start: 350 },
    { pid: 6, name: 'worker', uid: 77, ppid: 5, memory: 20 * MIB, cpu: 10 + 2 * spent, start: 400 },
    { pid: 7, name: 'worker', uid: 1000, ppid: 5, memory: 30 * MIB, cpu: 10 + spent, start: 400 },
    { pid: 8, name: 'schön', uid: 1000, memory: MIB / 2, cpu: 0 },
  ]);
const window: ProcessWindow = { before: make(10, 0), after: make(11, 20) };
const namesOf = (options: Partial<ProcessListOptions>, from = window) =>
  buildGroupedList(from, { ...ALL, ...options }).processes.map(({ name }) => name);

t.test('[7.process-list] grouped by name: sums of its processes, the whole count beside them', async (t) => {
  const list = buildGroupedList(window, ALL);
  t.equal(list.total_count, 5, 'processes, not rows');
  t.equal(list.timestamp, 1_000_011);
  t.strictSame(list.processes[0], {
    name: 'worker',
    count: 2,
    memory: 50 * MIB,
    memory_mb: 50,
    cpu_time: 0.8,
    cpu: 30,
  });
  t.strictSame(
    list.processes.map((row) => [row.name, row.memory_mb, row.cpu]),
    [
      ['worker', 50, 30],
      ['Browser', 300, 10],
      ['init', 8, 0],
      ['schön', 0.5, 0],
    ],
  );
});

t.test('[7.process-list] sorted by cpu, memory or name, searched by part of a name, cut', async (t) => {
  t.strictSame(namesOf({ sort: 'memory' }), ['Browser', 'worker', 'init', 'schön']);
  t.strictSame(namesOf({ sort: 'name' }), ['Browser', 'init', 'schön', 'worker']);
  t.strictSame(namesOf({ query: 'OR' }), ['worker']);
  t.strictSame(namesOf({ query: 'SCHÖ' }), ['schön']);
  t.strictSame(namesOf({ query: 'none' }), []);
  t.strictSame(namesOf({ query: '5' }), [], 'a number names no group');
  t.strictSame(namesOf({ limit: 1 }), ['worker']);
  t.equal(buildGroupedList(window, { ...ALL, limit: 1, query: 'w' }).total_count, 5, 'counted all the same');
});

t.test('[7.process-list] a first reading: cpu is null, and the order is that of memory', async (t) => {
  const first = { before: undefined, after: window.after };
  t.strictSame(namesOf({}, first), ['Browser', 'worker', 'init', 'schön']);
  t.strictSame(
    buildGroupedList(first, ALL).processes.map(({ cpu }) => cpu),
    [null, null, null, null],
  );
});

t.test('[7.process-list] a group with one new process has the share of the others', async (t) => {
  const before = processColumns(1, [{ pid: 3, name: 'w', cpu: 0 }]);
  const after = processColumns(2, [
    { pid: 3, name: 'w', cpu: 20 },
    { pid: 4, name: 'w', cpu: 90 },
  ]);
  t.equal(buildGroupedList({ before, after }, ALL).processes[0]?.cpu, 10);
});

t.test('[7.process-list] one by one: pid, ppid, user, started_at, threads, path', async (t) => {
  const rows = selectRows(window, { ...ALL, limit: 2 });
  const list = buildFlatList(window, rows, ['/usr/bin/worker', null], false);
  t.strictSame(list, {
    timestamp: 1_000_011,
    total_count: 5,
    processes: [
      {
        name: 'worker',
        pid: 6,
        memory: 20 * MIB,
        memory_mb: 20,
        cpu_time: 0.5,
        cpu: 20,
        ppid: 5,
        user: '77',
        started_at: 1_000_004,
        threads: 1,
        path: '/usr/bin/worker',
      },
      {
        name: 'Browser',
        pid: 5,
        memory: 300 * MIB,
        memory_mb: 300,
        cpu_time: 5.2,
        cpu: 10,
        ppid: 1,
        user: 'ada',
        started_at: 1_000_003,
        threads: 40,
        path: null,
      },
    ],
  });
  const pids = (options: Partial<ProcessListOptions>) =>
    selectRows(window, { ...ALL, ...options }).map((row) => window.after.pids[row]);
  t.strictSame(pids({}), [6, 5, 7, 1, 8]);
  t.strictSame(pids({ sort: 'memory' }), [5, 7, 6, 1, 8]);
  t.strictSame(pids({ sort: 'name' }), [5, 1, 8, 7, 6]);
  t.strictSame(pids({ query: ' 7 ' }), [7], 'a whole number');
  t.strictSame(pids({ query: 'work' }), [6, 7]);
});

t.test('[7.process-disks] disk I/O of rows and groups, and the order of it', async (t) => {
  const make = (seconds: number, moved: number) =>
    processColumns(seconds, [
      { pid: 1, name: 'hidden' },
      { pid: 2, name: 'w', read: 5, written: 7 + moved },
      { pid: 3, name: 'w', read: 3 * moved, written: 0 },
      { pid: 4, name: 'w' },
      { pid: 5, name: 'stepped back', read: 1, written: 9000 - moved },
      { pid: 6, name: 'new', read: moved, written: moved, start: seconds },
    ]);
  const from: ProcessWindow = { before: make(10, 0), after: make(12, 1001) };
  const options: ProcessListOptions = { ...ALL, sort: 'disk', hasDisks: true };
  const shown = ({ processes }: ProcessListPayload) =>
    processes.map((row) => `${row.name} ${row.read_rate} ${row.write_rate}`).join(', ');
  t.equal(
    shown(buildGroupedList(from, options)),
    'w 1502 501, stepped back 0 0, hidden null null, new null null',
  );
  t.equal(
    shown(buildFlatList(from, selectRows(from, options), [], true)),
    'w 1502 0, w 0 501, stepped back 0 0, hidden null null, new null null, w null null',
  );
  const first = { before: undefined, after: from.after };
  t.match(shown(buildGroupedList(first, options)), /^hidden null null, .*w null null$/);
  t.notOk('read_rate' in Object(buildGroupedList(from, ALL).processes[0]), 'only on request');
});
