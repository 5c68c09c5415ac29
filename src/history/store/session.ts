/** The file over time, in the worker: opened when possible, written, read, and closed when it fails. */
import { rmSync } from 'node:fs';
import { messageOf } from '../../errors.ts';
import type { HistoryMark } from '../../wire/history.ts';
import { Database } from './database.ts';
import { identityOf, logOf, moveAside, Refusal } from './file.ts';
import { readKeyUses, writeKeyUses } from './key-uses.ts';
import { noteWrite, readLastWrite } from './last-write.ts';
import { explainAbsence } from './lifetimes.ts';
import type { Answer, Batch, Moment, Notice, ReadRequest, WorkerOptions } from './messages.ts';
import { dropAfter, writeMinutes } from './minutes.ts';
import { addNotes } from './notes.ts';
import { findProcesses, readSlots } from './reader.ts';
import { makeRoom } from './retention.ts';
import { DAYS } from './schema.ts';
import { SeriesTable } from './series.ts';
import { closeDays, closeSpans, oldestOf } from './spans.ts';
import { BUSY, CORRUPT, codeOf, FULL, LOCKED, NO_DATABASE, READ_ONLY } from './sqlite.ts';

/** Maximum step back: a clock set back further is more likely wrong now than before, so nothing is deleted. */
const MAX_DROP_SECONDS = 86_400;

interface Open {
  readonly database: Database;
  series: SeriesTable;
}

export class Session {
  readonly #options: WorkerOptions['hostwireStore'];
  #open: Open | undefined;
  /** Identity of the write-ahead log of the open file. */
  #log: string | undefined;
  /** True once the marks of this start were written. */
  #isStarted = false;
  /** Those of this start, until a write has succeeded. */
  #marks: readonly HistoryMark[] | undefined;
  #notices: Notice[] = [];

  constructor(options: WorkerOptions['hostwireStore']) {
    this.#options = options;
  }

  takeNotices(): readonly Notice[] {
    const notices = this.#notices;
    this.#notices = [];
    return notices;
  }

  #note(level: Notice['level'], text: string): void {
    this.#notices.push({ level, text: `history.path: ${text}` });
  }

  write(batch: Batch, isLast: boolean): Answer {
    return this.#attempt(() => {
      this.#leaveIfMoved();
      const open = this.#reach();
      open.database.exec(DAYS);
      if (!this.#isStarted) this.#start(open, batch);
      const { database, series } = open;
      database.transaction(() => {
        if (batch.dropAfter !== undefined) dropLater(database, batch.dropAfter);
        closeSpans(database, writeMinutes(database, batch.packed, series));
        closeDays(database);
        addNotes(database, batch.marks, batch.events);
        if (batch.keyUses !== undefined) writeKeyUses(database, batch.keyUses);
        noteWrite(database, batch, isLast);
      });
      this.#log = identityOf(logOf(this.#options.path));
      // The following may fail: the batch is on disk.
      this.#attempt(() => {
        makeRoom(database, series, batch.maxBytes, batch.now);
        return { kind: 'written', names: [] };
      });
      const keyUses = batch.asksKeyUses === true ? readKeyUses(database) : undefined;
      const marks = this.#marks;
      this.#marks = undefined;
      const oldest = oldestOf(database, 'spans') ?? oldestOf(database, 'minutes');
      return { kind: 'written', names: series.takeNews(), oldest, keyUses, marks };
    });
  }

  read(request: ReadRequest): Answer {
    return this.#attempt(() => {
      const { database, series } = this.#reach();
      return { kind: 'read', answer: readSlots(database, series, request) };
    });
  }

  processesAt(at: number): Answer {
    return this.#attempt(() => ({
      kind: 'processes',
      processes: findProcesses(this.#reach().database, at),
    }));
  }

  close(): void {
    this.#open?.database.close();
    this.#open = undefined;
  }

  #reach(): Open {
    if (this.#open === undefined) {
      const database = new Database(this.#options.path);
      try {
        this.#open = { database, series: new SeriesTable(database) };
      } catch (error) {
        database.close();
        throw error;
      }
    }
    return this.#open;
  }

  /** A removed or replaced file would be written where no user finds it. */
  #leaveIfMoved(): void {
    if (this.#open === undefined || this.#open.database.isInPlace) return;
    this.close();
    const { path } = this.#options;
    // SQLite leaves the log of a file that was moved, and would apply it to the new one.
    if (this.#log !== undefined && identityOf(logOf(path)) === this.#log) rmSync(logOf(path));
    const isGone = identityOf(path) === undefined;
    this.#note(
      'warn',
      `${path} was ${isGone ? 'removed; a new file is created' : 'replaced; recording continues there'}`,
    );
  }

  #start({ database }: Open, moment: Moment): void {
    const last = readLastWrite(database);
    const { marks, isClockBehind } = explainAbsence(last, this.#options.startedAt, moment);
    database.transaction(() => {
      if (isClockBehind) dropLater(database, moment.now);
      addNotes(database, marks, []);
      noteWrite(database, moment, false);
    });
    this.#isStarted = true;
    this.#marks = marks;
  }

  /** Calls `act`; an error becomes the answer, and the file is reopened with the next request. */
  #attempt(act: () => Answer, mayBeginAnew = true): Answer {
    try {
      return act();
    } catch (error) {
      const code = codeOf(error);
      // A full disk can still be read. The names may be those of the transaction that failed.
      if (code === FULL && this.#open !== undefined) this.#open.series = new SeriesTable(this.#open.database);
      else this.close();
      if (code !== CORRUPT && code !== NO_DATABASE) return { kind: 'failed', reason: reasonOf(error, code) };
      const reason = this.#moveDamaged();
      if (reason !== undefined) return { kind: 'failed', reason };
      return mayBeginAnew ? this.#attempt(act, false) : { kind: 'failed', reason: 'it is damaged again' };
    }
  }

  /** Returns why that is not possible. claimFile has verified that the file is ours. */
  #moveDamaged(): string | undefined {
    const { path } = this.#options;
    try {
      const target = moveAside(path, new Date());
      this.#note('error', `${path} is damaged: it was moved to ${target}, and a new file is created`);
      return undefined;
    } catch (error) {
      return `it is damaged, and cannot be moved aside (${messageOf(error)})`;
    }
  }
}

function dropLater(database: Database, at: number): void {
  const last = readLastWrite(database);
  if (last === undefined || last.now - at <= MAX_DROP_SECONDS) dropAfter(database, at);
}

function reasonOf(error: unknown, code: number | undefined): string {
  if (error instanceof Refusal) return error.message;
  if (code === BUSY || code === LOCKED) return 'another process, such as a second hostwire, has it open';
  if (code === FULL) return 'the disk is full';
  if (code === READ_ONLY) return 'it is not writable';
  const text = messageOf(error);
  return code === undefined ? text : `SQLite: ${text}`;
}
