/**
 * Keeps the file, with its write-ahead log, below its limit: deletes old minutes first, down to a day, then old spans.
 */
import type { Database } from './database.ts';
import { DAY_SECONDS, floorTo } from './messages.ts';
import { CHECKPOINT_PAGES } from './schema.ts';
import type { SeriesTable } from './series.ts';
import { oldestOf } from './spans.ts';
import { numberIn } from './sqlite.ts';

const YEAR_DAYS = 366;
/** One deletion: an hour of minutes, or four days of spans. */
const MINUTES_STEP = 3600;
const SPANS_STEP = 4 * DAY_SECONDS;
/** Maximum number of deletions after one write: 8 days of minutes. A lowered limit takes effect over several writes. */
const MAX_STEPS = 200;
/**
 * Reserve for the log: it grows beyond a checkpoint by one transaction, which is at most 10 minutes of slots, or the
 * deletion of an hour.
 */
const LOG_BYTES = CHECKPOINT_PAGES * 4096 + 1.25 * 2 ** 20;

function pragma(database: Database, name: string): number {
  return numberIn(database.get(`PRAGMA ${name}`), name) ?? 0;
}

/** Deletes enough for the next rows, each step in a transaction of its own. */
export function makeRoom(database: Database, series: SeriesTable, maxBytes: number, now: number): void {
  const pageBytes = pragma(database, 'page_size');
  const most = Math.max(16, Math.floor((maxBytes - LOG_BYTES) / pageBytes));
  const used = () => pragma(database, 'page_count') - pragma(database, 'freelist_count');
  for (let step = 0; step < MAX_STEPS && used() > most; step++) {
    const isFreed = database.transaction(() => deleteOldest(database));
    if (!isFreed) break;
  }
  // Only pages beyond the limit are released: those below it are reused.
  const excess = pragma(database, 'page_count') - most;
  if (excess > 0) database.exec(`PRAGMA incremental_vacuum(${excess})`);
  forgetYears(database, series, now);
}

/** Returns false if nothing may be deleted. */
function deleteOldest(database: Database): boolean {
  const oldest = oldestOf(database, 'minutes');
  const newest = numberIn(database.get('SELECT max(at) AS at FROM minutes'), 'at');
  const isMoreThanDay = oldest !== undefined && newest !== undefined && newest - oldest > DAY_SECONDS;
  const spans = oldestOf(database, 'spans');
  if (oldest !== undefined && (isMoreThanDay || spans === undefined)) {
    const until = floorTo(oldest, MINUTES_STEP) + MINUTES_STEP;
    for (const table of ['minutes', 'processes']) database.run(`DELETE FROM ${table} WHERE at < ?`, until);
    return true;
  }
  if (spans === undefined) return false;
  for (const table of ['spans', 'days'])
    database.run(`DELETE FROM ${table} WHERE at < ?`, spans + SPANS_STEP);
  return true;
}

/** Once a day, deletes rows older than a year, and names that are no longer used. */
function forgetYears(database: Database, series: SeriesTable, now: number): void {
  const oldest = oldestOf(database, 'spans') ?? now;
  const limit = floorTo(now, DAY_SECONDS) - YEAR_DAYS * DAY_SECONDS;
  if (oldest >= limit || !isTrusted(database, now)) return;
  database.transaction(() => {
    for (const table of ['minutes', 'processes', 'spans', 'days', 'notes'])
      database.run(`DELETE FROM ${table} WHERE at < ?`, limit);
    series.forgetBefore(limit);
  });
}

/** Returns whether the clock was near `now` for an hour: a wrong clock at the start must not delete everything. */
function isTrusted(database: Database, now: number): boolean {
  const sql = 'SELECT count(*) AS count FROM minutes WHERE at > ? AND at <= ?';
  return (numberIn(database.get(sql, now - DAY_SECONDS, now), 'count') ?? 0) >= 60;
}
