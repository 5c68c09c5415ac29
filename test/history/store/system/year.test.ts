/** The summaries of the quarters of days: made from the spans, also those of an older file, and read in their place. */
import path from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { encodeValues } from '#src/history/store/blobs.js';
import type { Column } from '#src/history/store/messages.js';
import { packSlots } from '#src/history/store/pack.js';
import { Session } from '#src/history/store/session.js';
import { openSqlite } from '#src/history/store/sqlite.js';
import { sqliteTests } from '../../../helpers/machine/sqlite-node.ts';
import { createRandom } from '../../../helpers/random.ts';
import { emptyFolder } from '../../../helpers/scope.ts';
import { slotAt } from '../harness.ts';

const test = await sqliteTests(t, import.meta.filename);

const DAY = 86_400;
const SPAN = 600;
/** The begin of a day, before which there is a year. */
const NOW = 20_833 * DAY;
const YEAR = NOW - 365 * DAY;
const SERIES = 50;

/** Writes `minutes` from `at` on; without any, what a minute without a slot writes. */
function write(session: Session, at: number, minutes = 0, dropAfter?: number): void {
  const slots = Array.from({ length: 6 * minutes }, (_, i) => slotAt(at + 10 * i, SERIES));
  const now = at + 60 * minutes;
  const { kind } = session.write(
    { now, sinceBoot: now, maxBytes: 2 ** 30, packed: packSlots(slots), marks: [], events: [], dropAfter },
    false,
  );
  if (kind !== 'written') throw new Error(kind);
}

function read(session: Session, from: number, until: number, step: number) {
  const before = process.cpuUsage();
  const answer = session.read({ names: ['test.series/1'], from, until, step });
  const { user, system } = process.cpuUsage(before);
  if (answer.kind !== 'read' || answer.answer === 'too_many') throw new Error('no answer');
  const { columns, ...rest } = answer.answer;
  return { ...rest, column: columns[0] ?? null, cpuMs: (user + system) / 1000 };
}

function opened(t: Test, file: string): Session {
  const session = new Session({ path: file, startedAt: NOW });
  t.teardown(() => session.close());
  return session;
}

/** A file as an earlier version wrote it: a year of spans, and no days. */
function writeYear(t: Test): string {
  const file = path.join(emptyFolder(t), 'history.db');
  const session = opened(t, file);
  write(session, NOW, 1);
  session.close();
  const random = createRandom(50);
  const noise = (length: number) => Float32Array.from({ length }, () => 20 + random.below(6000) / 100);
  const blobs = Array.from({ length: 199 }, () => {
    const mean = noise(SERIES);
    return encodeValues({
      ids: Uint32Array.from({ length: SERIES }, (_, i) => i + 1),
      slots: 1,
      mean,
      min: mean.map((value) => value - 10),
      max: mean.map((value) => value + 10),
      counts: Float32Array.from({ length: SERIES }, () => 1 + random.below(60)),
    });
  });
  const database = openSqlite(file);
  database.exec('DROP TABLE days; BEGIN');
  const insert = database.prepare('INSERT INTO spans (at, data) VALUES (?, ?)');
  for (let at = YEAR; at < NOW; at += SPAN) insert.run(at, blobs[(at / SPAN) % blobs.length] ?? null);
  database.exec('COMMIT');
  database.close();
  return file;
}

const isNear = (one: Float32Array | undefined, other: Float32Array | undefined) =>
  one?.length === other?.length &&
  (one ?? []).every((value, i) => Math.abs(value - (other?.[i] ?? Number.NaN)) < 1e-3);

test('a year is read from summaries of a day, also of a file that had none', async (t) => {
  const session = opened(t, writeYear(t));
  const spans = read(session, YEAR, NOW, DAY);
  t.equal(spans.column?.mean.length, 365);
  for (let minute = 1; minute <= 12; minute++) {
    write(session, NOW + 60 * minute, 1);
    // Some days are summarized, others not yet.
    if (minute === 5) t.ok(isNear(read(session, YEAR, NOW, DAY).column?.mean, spans.column?.mean));
  }
  const days = read(session, YEAR, NOW, DAY);
  for (const plane of ['mean', 'min', 'max'] as const)
    t.ok(isNear(days.column?.[plane], spans.column?.[plane]), plane);
  t.comment(
    `figure: a year of one of ${SERIES} series took ${spans.cpuMs.toFixed(0)} ms of CPU time from spans, ${days.cpuMs.toFixed(1)} ms from days`,
  );
  t.ok(days.cpuMs < spans.cpuMs / 10, 'and at least ten times as quickly');
  t.equal(read(session, YEAR, NOW, 21_000).step, 21_000, 'shorter steps have the spans');
  t.equal(read(session, YEAR, NOW, 43_900).step, 64_800, 'longer ones are multiples of six hours');
});

test('quarters are summarized as they end, and again where the clock was set back', async (t) => {
  const session = opened(t, path.join(emptyFolder(t), 'history.db'));
  const check = (until: number) => {
    const [quarters, spans] = [read(session, NOW, until, 21_600), read(session, NOW, until, 10_800)];
    // The same values, two slots to one: a quarter is the mean of its halves, which have the same number of values.
    const halves = spans.column?.mean ?? new Float32Array();
    const wanted = (quarters.column?.mean ?? []).map(
      (_: number, i: number) => ((halves[2 * i] ?? 0) + (halves[2 * i + 1] ?? 0)) / 2,
    ) as Column['mean'];
    t.ok(isNear(quarters.column?.mean, wanted), `until ${(until - NOW) / 3600} h`);
  };
  for (let at = NOW; at < NOW + DAY + 21_600; at += SPAN) write(session, at, 10);
  check(NOW + DAY + 21_600);
  // By 15 hours: into the second quarter of the day before.
  const back = NOW + DAY - 9 * 3600;
  write(session, back, 0, back);
  for (let at = back; at < NOW + DAY; at += SPAN) write(session, at, 10);
  check(NOW + DAY);
});
