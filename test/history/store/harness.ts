/** A store on a clock that the test moves, slots that follow from their time, and the lines that were logged. */
import path from 'node:path';
import type { Test } from 'tap';
import type { KeyUses } from '#src/access/key-uses.js';
import type { Slot, Store, Summary } from '#src/history/history.js';
import { openSqlite } from '#src/history/store/sqlite.js';
import { openStore } from '#src/history/store/store.js';
import type { Log } from '#src/log/log.js';
import { FakeClock } from '../../helpers/fakes/clock.ts';
import { PATIENCE_MS } from '../../helpers/limits.ts';
import { emptyFolder } from '../../helpers/scope.ts';

/** A multiple of 600. */
export const BEGIN = 1_800_000_000;

/** As memory has it. */
const f32 = Math.fround;

/** A value that nothing else has: of series `series` at `at`. */
export function summaryAt(at: number, series: number): Summary {
  const mean = f32(((at / 10) % 1000) + series / 64);
  return { mean, min: f32(mean - (series % 3)), max: f32(mean + (series % 5)) };
}

export const nameOf = (series: number): string => `test.series/${series}`;

export function slotAt(at: number, seriesCount = 3, processes: Slot['processes'] = undefined): Slot {
  const values = new Map(
    Array.from({ length: seriesCount }, (_, series) => [
      nameOf(series),
      { ...summaryAt(at, series), unit: series === 0 ? '%' : 'MiB' },
    ]),
  );
  return { at, values, processes };
}

export const processesAt = (takenAt: number): NonNullable<Slot['processes']> => ({
  takenAt,
  windowSeconds: 10,
  cpu: [{ name: 'burner', count: 1, value: takenAt % 100 }],
  memory: null,
  disk: null,
});

export class StoreRig {
  readonly clock = new FakeClock();
  readonly lines: string[] = [];
  readonly log: Log;
  readonly path: string;
  readonly maxMegabytes: number;
  closeLimitMs = PATIENCE_MS;
  keyUses: KeyUses | undefined;
  /** Unix seconds. */
  now = BEGIN;
  #store: Store | undefined;

  constructor(file: string, maxMegabytes = 64) {
    this.path = file;
    this.maxMegabytes = maxMegabytes;
    const line = (level: string) => (text: string) => void this.lines.push(`${level}: ${text}`);
    this.log = {
      error: line('error'),
      warn: line('warn'),
      info: line('info'),
      debug: line('debug'),
      notice: line('info'),
      audit: line('info'),
      setLevel: () => {},
    };
  }

  get store(): Store {
    if (this.#store === undefined) throw new Error('the store is not open');
    return this.#store;
  }

  /** The time since boot is that of the clock and follows `now`, unless a test says otherwise. */
  open(bootedAt = BEGIN - 5000): Store {
    const { path: file, maxMegabytes, log, clock } = this;
    this.#store = openStore({
      path: file,
      maxMegabytes: () => maxMegabytes,
      log,
      clock: {
        now: clock.now,
        sinceBoot: () => (this.now - bootedAt) * 1000,
        setTimer: clock.setTimer,
        clearTimer: clock.clearTimer,
      },
      unixMs: () => this.now * 1000,
      startedAt: this.now,
      closeLimitMs: this.closeLimitMs,
      keyUses: this.keyUses,
    });
    return this.store;
  }

  /** Puts a slot of each 10 s and waits until they are on disk. `from` is a full minute. */
  async record(
    from: number,
    minutes: number,
    slot: (at: number) => Slot = (at) => slotAt(at),
  ): Promise<void> {
    for (let minute = 0; minute < minutes; minute++) {
      const begin = from + minute * 60;
      for (let at = begin; at < begin + 60; at += 10) this.store.put(slot(at));
      this.now = begin + 60;
      await this.settled();
    }
  }

  /**
   * Answers come in order: with that of a request, all writes before it are done. Twice, because a minute that is over
   * while a batch is on its way is sent after that.
   */
  async settled(): Promise<void> {
    for (let i = 0; i < 2; i++)
      await this.store.read({ names: () => false, from: 0, until: 10, step: 10 }).catch(() => {});
  }

  async close(): Promise<boolean> {
    return await this.store.close();
  }
}

/** All slots of all series between two moments. Throws where the store answers "too many". */
export async function readAll(store: Store, from: number, until: number, step = 10) {
  const answer = await store.read({ names: () => true, from, until, step });
  if (answer === 'too_many') throw new Error('too many');
  return answer;
}

/** A store in `folder`, which is closed at the end of the test; not opened yet. */
export function rigIn(t: Test, folder = emptyFolder(t), maxMegabytes?: number): StoreRig {
  const rig = new StoreRig(path.join(folder, 'history.db'), maxMegabytes);
  t.teardown(() => rig.close());
  return rig;
}

/** "ok": SQLite finds nothing wrong with a file that no service has open. */
export function soundnessOf(file: string): unknown {
  const database = openSqlite(file);
  const result = database.prepare('PRAGMA integrity_check').get();
  database.close();
  return result?.['integrity_check'];
}
