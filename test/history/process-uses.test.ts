/** The resources that programs used between two readings, five names of each kind, kept in a fixed number of bytes. */
import t from 'tap';
import { type ProcessMoment, ProcessRing } from '#src/history/process-ring.js';
import { usesBetween } from '#src/history/process-uses.js';
import { type ProcessLiteral, processColumns } from '../helpers/fakes/process-columns.ts';
import { createRandom } from '../helpers/random.ts';

t.test('[3.history-ran] processes of one name are one program', async (t) => {
  const before = processColumns(100, [
    { pid: 1, name: 'a', cpu: 10, memory: 5, read: 1000, written: 0 },
    { pid: 2, name: 'b', cpu: 0, memory: 7, read: 0, written: 500 },
    { pid: 3, name: 'a', cpu: 5, memory: 6, read: 0, written: 0 },
  ]);
  const after = processColumns(110, [
    { pid: 1, name: 'a', cpu: 110, memory: 50, read: 3000, written: 100 },
    { pid: 2, name: 'b', cpu: 20, memory: 70, read: 0, written: 500 },
    { pid: 3, name: 'a', cpu: 5, memory: 60, read: 0, written: 0 },
  ]);
  t.strictSame(usesBetween(before, after), {
    // Two processors of 100 ticks: 2,000 in 10 s.
    cpu: [
      { name: 'a', count: 2, value: 5 },
      { name: 'b', count: 1, value: 1 },
    ],
    memory: [
      { name: 'a', count: 2, value: 110 },
      { name: 'b', count: 1, value: 70 },
    ],
    disk: [{ name: 'a', count: 2, value: 210 }],
    windowSeconds: 10,
  });
});

t.test('[3.history-ran] a process that started within the window counts from 0', async (t) => {
  const before = processColumns(100, [{ pid: 5, name: 'old', cpu: 900, start: 1, read: 9000, written: 0 }]);
  const after = processColumns(160, [
    { pid: 5, name: 'new', cpu: 600, start: 12_000, read: 600, written: 60 },
    { pid: 6, name: 'burn', cpu: 1500, start: 12_000, read: 0, written: 0 },
  ]);
  const { cpu, disk } = usesBetween(before, after);
  t.strictSame(cpu, [
    { name: 'burn', count: 1, value: 12.5 },
    { name: 'new', count: 1, value: 5 },
  ]);
  t.strictSame(disk, [{ name: 'new', count: 1, value: 11 }], 'its number had belonged to another one');
});

t.test('[3.history-ran] unknown uses are null, and hidden ones are left out', async (t) => {
  const rows: readonly ProcessLiteral[] = [
    { pid: 1, name: 'hidden', cpu: 1, memory: 1 },
    { pid: 2, name: 'shown', cpu: 1, memory: 1, read: 0, written: 10 },
  ];
  const later = rows.map((row) => ({ ...row, cpu: 2, ...(row.pid === 2 && { read: 10, written: 20 }) }));
  const before = processColumns(1, rows);
  const after = processColumns(2, later);
  t.match(usesBetween(undefined, after), { cpu: null, memory: [{}, {}], disk: null, windowSeconds: null });
  t.strictSame(usesBetween(before, after).disk, [{ name: 'shown', count: 1, value: 20 }]);
  const without = { readBytes: null, writeBytes: null };
  t.equal(usesBetween(before, processColumns(2, later, without)).disk, null);
  t.equal(usesBetween(processColumns(1, rows, without), after).disk, null);
  const hidden = rows.map(({ read, written, ...row }) => row);
  t.equal(usesBetween(processColumns(1, hidden), processColumns(2, hidden)).disk, null, 'nobody shows it');
  t.equal(usesBetween(before, processColumns(2, later, { machineTicks: null })).cpu, null);
  t.equal(usesBetween(after, before).cpu, null, 'no time between the two');
});

t.test('[3.history-ran] names of any bytes; five of each kind, whatever there is', async (t) => {
  const names = ['é', '日本', 'a b', '', '\u{1F600}', 'x\n'];
  const rows = names.map((name, i) => ({ pid: i + 1, name, memory: 100 - i }));
  const { memory } = usesBetween(undefined, processColumns(1, rows));
  t.strictSame(
    memory?.map(({ name }) => name),
    names.slice(0, 5),
  );
});

t.test('[3.history-ran] equal to sums that are made one by one', async (t) => {
  const random = createRandom(20);
  const names = Array.from({ length: 30 }, (_, i) => `program-${i}`);
  for (let round = 0; round < 50; round++) {
    const rows = (seconds: number) =>
      Array.from({ length: 200 }, (_, i) => ({
        pid: i + 1,
        name: names[(i * 7) % names.length] ?? '',
        cpu: seconds * random.below(20),
        memory: random.below(1e9),
        read: seconds * random.below(1e6),
        written: 0,
      }));
    const first = rows(1);
    const second = first.map((row) => ({
      ...row,
      cpu: row.cpu + random.below(50),
      memory: random.below(1e9),
      read: row.read + random.below(1e6),
    }));
    const { cpu, memory, disk } = usesBetween(processColumns(0, first), processColumns(10, second));
    const top = (of: (row: (typeof second)[number], i: number) => number, step: number) => {
      const sums = new Map<string, number>();
      second.forEach((row, i) => sums.set(row.name, (sums.get(row.name) ?? 0) + of(row, i)));
      return [...sums.values()]
        .sort((a, b) => b - a)
        .slice(0, 5)
        .map((value) => Math.round(value / step) * step);
    };
    const values = (uses: typeof cpu) => uses?.map(({ value }) => value) ?? [];
    const isNear = (some: readonly number[], others: readonly number[], by: number) =>
      some.length === others.length && some.every((value, i) => Math.abs(value - (others[i] ?? 0)) <= by);
    t.ok(
      isNear(
        values(cpu),
        top((row, i) => ((row.cpu - (first[i]?.cpu ?? 0)) / 2000) * 100, 0.01),
        1e-6,
      ),
    );
    t.ok(
      isNear(
        values(memory),
        top((row) => row.memory, 1),
        0,
      ),
    );
    t.ok(
      isNear(
        values(disk),
        top((row, i) => (row.read - (first[i]?.read ?? 0)) / 10, 1),
        1,
      ),
    );
  }
});

const use = (name: string, value = 1) => ({ name, count: 1, value });

const moment = (takenAt: number, names: readonly string[] = ['a'], windowSeconds: number | null = 10) => ({
  takenAt,
  windowSeconds,
  cpu: names.map((name, i) => use(name, 50 - i)),
  memory: [use('m', 2 ** 40)],
  disk: null,
});

t.test('[3.history-ran] the moment whose window contains a time, or the nearest one before', async (t) => {
  const ring = new ProcessRing(60);
  t.equal(ring.at(1000), undefined);
  const all = [1000, 1010, 1020, 1080, 1140].map((at, i) =>
    moment(at, [`p${i}`], i === 0 ? null : i < 3 ? 10 : 60),
  );
  for (const each of all) ring.put(each);
  t.strictSame(ring.at(1000), all[0]);
  t.strictSame(ring.at(1010), all[1]);
  t.strictSame(ring.at(1000.5), all[1], 'the window ends with the reading');
  t.strictSame(ring.at(1021), all[3]);
  t.strictSame(ring.at(1139), all[4]);
  t.strictSame(ring.at(1141), all[4], 'the last one');
  t.strictSame(ring.at(1205), all[4]);
  t.equal(ring.at(1300), undefined, 'nothing is that near');
  t.equal(ring.at(900), undefined);
  t.strictSame(ring.within(1010, 1020), all[1]);
  t.equal(ring.within(1030, 1040), undefined);
});

t.test('[3.history-ran] without a window, the one before', async (t) => {
  const ring = new ProcessRing(60);
  ring.put(moment(1000, ['first'], null));
  ring.put(moment(1500, ['second'], null));
  t.equal(ring.at(1400), undefined);
  t.equal(ring.at(1060)?.cpu?.[0]?.name, 'first');
});

t.test('[3.history-bytes] bytes are fixed, and names go with the last moment that has them', async (t) => {
  const ring = new ProcessRing(60);
  const bytes = ring.byteLength;
  t.ok(bytes < 100_000, `${bytes} bytes for 60 minutes`);
  for (let i = 0; i < 5000; i++) ring.put(moment(10 * i, [`name ${i}`, `name ${i + 1}`, 'always']));
  t.equal(ring.size, 361);
  t.equal(ring.byteLength, bytes);
  t.equal(ring.nameCount, 362 + 2);
  const kept = [...ring];
  t.strictSame(kept.at(-1), moment(49_990, ['name 4999', 'name 5000', 'always']));
  t.strictSame(kept[0], moment(10 * 4639, ['name 4639', 'name 4640', 'always']));
});

t.test('[3.history-ran] a clock that is set back takes what lies after it', async (t) => {
  const ring = new ProcessRing(60);
  for (const at of [1000, 1010, 1020, 1030]) ring.put(moment(at, [`at ${at}`]));
  ring.put(moment(1015, ['again']));
  t.strictSame(
    [...ring].map(({ takenAt }: ProcessMoment) => takenAt),
    [1000, 1010, 1015],
  );
  t.equal(ring.nameCount, 4);
});
