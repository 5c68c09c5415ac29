/** State that each transaction leaves for the next one, and for the next service. */
import type { Database } from './database.ts';
import type { LastWrite } from './lifetimes.ts';
import type { Moment } from './messages.ts';
import { numberIn } from './sqlite.ts';

/** Values in `meta`. */
type Key =
  | 'heartbeat'
  | 'since_boot'
  | 'stopped'
  | 'key_uses_since'
  /** The span that was written to last and has no summary yet. */
  | 'open_span'
  /** The end of the quarters of days that have a summary. */
  | 'open_quarter';

/** Undefined: it was not written yet. */
export function readNumber(database: Database, key: Key): number | undefined {
  return numberIn(database.get('SELECT value FROM meta WHERE key = ?', key), 'value');
}

export function writeNumber(database: Database, key: Key, value: number): void {
  database.run('REPLACE INTO meta (key, value) VALUES (?, ?)', key, value);
}

/** Undefined: nothing has been written yet. */
export function readLastWrite(database: Database): LastWrite | undefined {
  const now = readNumber(database, 'heartbeat');
  const sinceBoot = readNumber(database, 'since_boot');
  if (now === undefined || sinceBoot === undefined) return undefined;
  return { now, sinceBoot, isStopped: readNumber(database, 'stopped') === 1 };
}

export function noteWrite(database: Database, { now, sinceBoot }: Moment, isStopped: boolean): void {
  writeNumber(database, 'heartbeat', now);
  writeNumber(database, 'since_boot', sinceBoot);
  writeNumber(database, 'stopped', isStopped ? 1 : 0);
}
