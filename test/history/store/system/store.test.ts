/** The history on disk: what was put can be read again, in every step, after restarts and after the clock was set. */
import { cpSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import type { Slot, Summary } from '#src/history/history.js';
import { sqliteTests } from '../../../helpers/machine/sqlite-node.ts';
import { emptyFolder } from '../../../helpers/scope.ts';
import { BEGIN, nameOf, processesAt, readAll, rigIn, StoreRig, slotAt, summaryAt } from '../harness.ts';

const test = await sqliteTests(t, import.meta.filename);

/** Merges slots of 10 s into a longer one. */
function summarize(slots: readonly Slot[], name: string): Summary | undefined {
  const all = slots.flatMap(({ values }) => values.get(name) ?? []);
  if (all.length === 0) return undefined;
  return {
    mean: all.reduce((sum, { mean }) => sum + mean, 0) / all.length,
    min: Math.min(...all.map(({ min }) => min)),
    max: Math.max(...all.map(({ max }) => max)),
  };
}

/** Compares an answer with what was put, slot by slot and series by series. */
function compare(t: Test, answer: readonly Slot[], put: readonly Slot[], step: number): void {
  const begins = [...new Set(put.map(({ at }) => Math.floor(at / step) * step))];
  t.strictSame(
    answer.map(({ at }) => at),
    begins,
    `the slots of ${step} s`,
  );
  let worst = 0;
  for (const { at, values } of answer) {
    const parts = put.filter((slot) => slot.at >= at && slot.at < at + step);
    const names = new Set(parts.flatMap((slot) => [...slot.values.keys()]));
    if (values.size !== names.size) t.fail(`${values.size} series at ${at}, not ${names.size}`);
    for (const [name, { mean, min, max }] of values) {
      const wanted = summarize(parts, name);
      if (wanted === undefined || wanted.min !== min || wanted.max !== max) t.fail(`${name} at ${at}`);
      else worst = Math.max(worst, Math.abs(mean - wanted.mean) / Math.max(1, Math.abs(wanted.mean)));
    }
  }
  // Two roundings to 24 bits.
  t.ok(worst < 3e-7, `${step} s: means differ by ${worst} at most`);
}

function opened(t: Test): StoreRig {
  const rig = rigIn(t);
  rig.open();
  return rig;
}

test('stored slots are read again, in steps of 10 s to an hour', async (t) => {
  const rig = opened(t);
  const put: Slot[] = [];
  // Gaps of a slot, of minutes, and of a series.
  const isGap = (at: number) => at % 70 === 0 || (at >= BEGIN + 3000 && at < BEGIN + 4800);
  for (let at = BEGIN; at < BEGIN + 10_800; at += 60) {
    for (let slot = at; slot < at + 60; slot += 10) {
      if (isGap(slot)) continue;
      const one = slotAt(slot, slot % 90 === 0 ? 1 : 4);
      put.push(one);
      rig.store.put(one);
    }
    rig.now = at + 60;
    await rig.settled();
  }
  for (const step of [10, 60, 90, 300, 600, 1200, 3600]) {
    const answer = await readAll(rig.store, BEGIN, BEGIN + 10_800, step);
    t.equal(answer.step, step);
    compare(t, answer.slots, put, step);
  }
  const units = (await readAll(rig.store, BEGIN, BEGIN + 60)).slots[1]?.values;
  t.equal(rig.store.oldest, BEGIN);
  t.strictSame([units?.get(nameOf(0))?.unit, units?.get(nameOf(1))?.unit], ['%', 'MiB']);
  t.equal((await readAll(rig.store, BEGIN, BEGIN + 10_800, 700)).step, 1200, 'summaries are not divided');
  t.strictSame(rig.lines, []);
});

test('a selection of series, and more numbers than an answer may have', async (t) => {
  const rig = opened(t);
  await rig.record(BEGIN, 2, (at) => slotAt(at, 40));
  const request = { from: BEGIN, until: BEGIN + 120, step: 10 };
  const some = await rig.store.read({ ...request, names: (name) => name === nameOf(7) });
  t.not(some, 'too_many');
  if (some !== 'too_many')
    t.strictSame(
      some.slots.map(({ values }) => [...values.keys()]),
      Array(12).fill([nameOf(7)]),
    );
  const long = { from: BEGIN, until: BEGIN + 8400, step: 10 };
  t.equal(await rig.store.read({ ...long, names: () => true }), 'too_many', '40 × 840 × 3');
  t.not(await rig.store.read({ ...long, names: (name) => name.endsWith('1') }), 'too_many');
});

test('a minute that a restart has cut is put together', async (t) => {
  const rig = opened(t);
  const put = [0, 10, 20].map((second) => slotAt(BEGIN + second, 2));
  for (const slot of put) rig.store.put(slot);
  rig.now = BEGIN + 31;
  t.equal(await rig.close(), true);
  rig.now = BEGIN + 40;
  rig.open();
  // Another set of series, and one with another unit.
  const others = [40, 50].map((second) => slotAt(BEGIN + second, 5));
  for (const slot of others) rig.store.put(slot);
  await rig.settled();
  const { slots, marks } = await readAll(rig.store, BEGIN, BEGIN + 60);
  compare(t, slots, [...put, ...others], 10);
  t.match(marks, [
    { at: BEGIN, kind: 'start', seconds: null },
    { at: BEGIN + 31, kind: 'stop' },
    { at: BEGIN + 40, kind: 'start', seconds: 9 },
  ]);
});

test('a clock that was set back drops what is later, on disk and on its way', async (t) => {
  const rig = opened(t);
  await rig.record(BEGIN, 30);
  for (const second of [0, 10, 20]) rig.store.put(slotAt(BEGIN + 1800 + second));
  // By 20 minutes, to the middle of a slot.
  rig.now = BEGIN + 625;
  rig.store.mark({ at: rig.now, kind: 'clock', seconds: -1205, text: 'set back' });
  const again = (at: number) => slotAt(at, 1);
  for (let at = BEGIN + 620; at < BEGIN + 660; at += 10) rig.store.put(again(at));
  await rig.settled();
  await rig.record(BEGIN + 660, 10, again);
  const put = Array.from({ length: 126 }, (_, i) => slotAt(BEGIN + i * 10, i * 10 < 620 ? 3 : 1));
  for (const step of [10, 600]) {
    const { slots, marks } = await readAll(rig.store, BEGIN, BEGIN + 3600, step);
    compare(t, slots, put, step);
    t.match(marks, [{ kind: 'start' }, { kind: 'clock', at: BEGIN + 625 }]);
  }
});

test('a clock that is set back by years deletes nothing', async (t) => {
  const rig = opened(t);
  await rig.record(BEGIN, 12);
  rig.now = 600;
  rig.store.mark({ at: rig.now, kind: 'clock', seconds: 600 - BEGIN, text: 'set back' });
  await rig.record(600, 12);
  rig.now = BEGIN + 1200;
  await rig.record(BEGIN + 1200, 1);
  t.equal((await readAll(rig.store, BEGIN, BEGIN + 720)).slots.length, 72);
  t.equal((await readAll(rig.store, 600, 1320)).slots.length, 72);
});

test('processes: the slot of a moment, or the last ones before it', async (t) => {
  const rig = opened(t);
  const read = new Map([
    [BEGIN + 10, BEGIN + 12],
    [BEGIN + 20, BEGIN + 12],
    [BEGIN + 120, BEGIN + 125],
  ]);
  await rig.record(BEGIN, 4, (at) => {
    const takenAt = read.get(at);
    return slotAt(at, 1, takenAt === undefined ? undefined : processesAt(takenAt));
  });
  const at = async (moment: number) => (await rig.store.processesAt(moment))?.takenAt;
  t.equal(await at(BEGIN + 5), undefined, 'before the first reading');
  t.equal(await at(BEGIN + 15), BEGIN + 12);
  t.equal(await at(BEGIN + 119), BEGIN + 12);
  t.equal(await at(BEGIN + 125), BEGIN + 125);
  t.equal(await at(BEGIN + 3700), BEGIN + 125);
  t.equal(await at(BEGIN + 3730), undefined, 'an hour later');
  t.strictSame(await rig.store.processesAt(BEGIN + 125), processesAt(BEGIN + 125));
});

test('events and marks, in order and within the time', async (t) => {
  const rig = opened(t);
  const event = (at: number) =>
    ({ at, rule: 'hot', state: 'begin', series: 'cpu.temperature', value: 90.5, text: `At ${at}.` }) as const;
  const suspend = { at: BEGIN + 30, kind: 'suspend', seconds: 7, text: 'The machine slept.' } as const;
  for (const at of [BEGIN + 15, BEGIN + 65.25, BEGIN + 125]) rig.store.event(event(at));
  rig.store.mark(suspend);
  await rig.record(BEGIN, 3);
  const answer = await readAll(rig.store, BEGIN + 10, BEGIN + 120);
  t.strictSame(answer.events, [event(BEGIN + 15), event(BEGIN + 65.25)]);
  t.strictSame(answer.marks, [suspend]);
});

test('the file: one, for its owner alone, and none beside it after the end', async (t) => {
  const before = process.umask(0);
  t.teardown(() => process.umask(before));
  const rig = opened(t);
  await rig.record(BEGIN, 1);
  const folder = path.dirname(rig.path);
  for (const name of readdirSync(folder))
    t.equal(statSync(path.join(folder, name)).mode & 0o777, 0o600, name);
  t.ok(readdirSync(folder).length >= 2, 'with its log');
  t.equal(await rig.close(), true);
  t.strictSame(readdirSync(folder), ['history.db']);
});

test('a minute without a slot has its heartbeat', async (t) => {
  const rig = opened(t);
  await rig.settled();
  rig.now = BEGIN + 80;
  await rig.clock.advance(80_000);
  await rig.settled();
  // As after kill -9, where the files stay as they are.
  const copy = emptyFolder(t);
  cpSync(path.dirname(rig.path), copy, { recursive: true });
  const other = new StoreRig(path.join(copy, 'history.db'));
  other.now = BEGIN + 200;
  const { marks } = await readAll(other.open(), BEGIN, BEGIN + 300);
  await other.close();
  t.match(marks, [
    { kind: 'start' },
    { kind: 'crash', at: BEGIN + 80, seconds: 120 },
    { kind: 'start', seconds: 120 },
  ]);
  t.equal(rig.clock.timers, 1, 'and the next one is due');
  t.equal(await rig.close(), true);
  t.equal(rig.clock.timers, 0, 'nothing goes on after the end');
});

test('the same numbers as in memory', async (t) => {
  const rig = opened(t);
  await rig.record(BEGIN, 1);
  const { slots } = await readAll(rig.store, BEGIN + 20, BEGIN + 30);
  t.strictSame(slots[0]?.values.get(nameOf(2)), { ...summaryAt(BEGIN + 20, 2), unit: 'MiB' });
});
