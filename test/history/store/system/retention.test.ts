/** The limit of the file's size: old minutes go first, down to a day, then old spans; a year at most. */
import { statSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { Slot } from '#src/history/history.js';
import type { Answer } from '#src/history/store/messages.js';
import { packSlots } from '#src/history/store/pack.js';
import { Session } from '#src/history/store/session.js';
import { sqliteTests } from '../../../helpers/machine/sqlite-node.ts';
import { createRandom } from '../../../helpers/random.ts';
import { emptyFolder } from '../../../helpers/scope.ts';
import { BEGIN, soundnessOf } from '../harness.ts';

const test = await sqliteTests(t, import.meta.filename);

const DAY = 86_400;
/** Values that cannot be compressed: four minutes per page, 1.5 MB per day; 40 kB per day of spans. */
const SERIES = 12;
const random = createRandom(1);
const noise = () => Math.fround((random.below(2 ** 24) - 2 ** 23) / 3);

function slotOf(at: number): Slot {
  const values = new Map(
    Array.from({ length: SERIES }, (_, i) => {
      const value = noise();
      return [`series/${i}`, { unit: '', mean: value, min: noise(), max: noise() }];
    }),
  );
  return { at, values, processes: undefined };
}

class Disk {
  readonly file: string;
  readonly session: Session;

  constructor(t: Test) {
    this.file = path.join(emptyFolder(t), 'history.db');
    this.session = new Session({ path: this.file, startedAt: BEGIN });
    t.teardown(() => this.session.close());
  }

  /** Ten minutes in one batch. */
  write(at: number, maxBytes: number, minutes = 10): Answer {
    const slots = Array.from({ length: minutes * 6 }, (_, i) => slotOf(at + i * 10));
    const now = at + minutes * 60;
    return this.session.write(
      {
        now,
        sinceBoot: now,
        maxBytes,
        packed: packSlots(slots),
        marks: [],
        events: [],
        dropAfter: undefined,
      },
      false,
    );
  }

  get bytes(): number {
    const log = statSync(`${this.file}-wal`, { throwIfNoEntry: false });
    return statSync(this.file).size + (log?.size ?? 0);
  }

  /** Whether slots of 10 s are kept since `from`; otherwise the answer comes from spans. */
  hasMinutes(from: number): boolean {
    const answer = this.session.read({ names: ['series/0'], from, until: from + 600, step: 10 });
    return answer.kind === 'read' && answer.answer !== 'too_many' && answer.answer.step === 10;
  }

  /** Begin of the oldest row that is answered with, in steps of `step`. */
  oldest(step: number, from: number, until: number): number | undefined {
    const answer = this.session.read({ names: ['series/0'], from, until, step });
    if (answer.kind !== 'read' || answer.answer === 'too_many') throw new Error(JSON.stringify(answer));
    const { start, columns } = answer.answer;
    const at = columns[0]?.mean.findIndex((value) => !Number.isNaN(value)) ?? -1;
    return at < 0 ? undefined : start + at * answer.answer.step;
  }
}

test('it holds at every moment, and what goes first', async (t) => {
  const disk = new Disk(t);
  const maxBytes = 4 * 2 ** 20;
  let largest = 0;
  let oldestSpan = BEGIN;
  for (let at = BEGIN; at < BEGIN + 11 * DAY; at += 600) {
    if (disk.write(at, maxBytes).kind !== 'written') t.fail(`at ${at}`);
    largest = Math.max(largest, disk.bytes);
    const now = at + 600;
    if ((now - BEGIN) % (DAY / 4) !== 0) continue;
    if (!disk.hasMinutes(Math.max(BEGIN, now - DAY + 3600))) t.fail(`less than a day at ${now}`);
    const span = disk.oldest(600, BEGIN, now) ?? now;
    if (span > oldestSpan && disk.hasMinutes(now - DAY - 4800)) t.fail(`spans went before minutes at ${now}`);
    oldestSpan = span;
  }
  t.ok(largest <= maxBytes, `${largest} of ${maxBytes} bytes`);
  t.ok(largest > maxBytes * 0.6, 'which are used');
  t.ok(oldestSpan > BEGIN, 'and spans were deleted too');
});

test('a limit that is lowered takes effect, and gives the room back', async (t) => {
  const disk = new Disk(t);
  for (let at = BEGIN; at < BEGIN + 5 * DAY; at += 600) disk.write(at, 2 ** 30);
  const before = disk.bytes;
  const lower = 6 * 2 ** 20;
  t.ok(before > lower, `${before} bytes`);
  for (let i = 0; i < 3; i++) disk.write(BEGIN + 5 * DAY + i * 600, lower);
  t.ok(disk.bytes <= lower, `${disk.bytes} of ${lower} bytes`);
  disk.session.close();
  t.ok(statSync(disk.file).size <= lower);
  t.equal(soundnessOf(disk.file), 'ok');
});

test('a year, unless the clock is wrong for a moment', async (t) => {
  const disk = new Disk(t);
  const later = BEGIN + 400 * DAY;
  for (let at = BEGIN; at < BEGIN + 7200; at += 600) disk.write(at, 2 ** 30);
  disk.write(later, 2 ** 30);
  disk.write(BEGIN + 7200, 2 ** 30);
  t.equal(disk.oldest(600, BEGIN, BEGIN + 7200), BEGIN, 'ten minutes in another year delete nothing');
  for (let at = later; at < later + 4800; at += 600) disk.write(at, 2 ** 30);
  t.equal(disk.oldest(600, BEGIN, BEGIN + 7800), undefined, 'an hour later it is believed');
  t.equal(disk.oldest(600, later - 600, later + 4800), later);
});
