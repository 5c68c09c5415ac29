/** The last uses of keys as rows: names, times and addresses, without a key or a digest. */
import type { KeyUse } from '../../access/key-uses.ts';
import type { Database } from './database.ts';
import { readNumber, writeNumber } from './last-write.ts';
import type { StoredUses } from './messages.ts';
import { KEY_USES } from './schema.ts';
import { numberIn, textIn } from './sqlite.ts';

/** Replaces all of them. */
export function writeKeyUses(database: Database, { sinceMs, uses }: StoredUses): void {
  // Made with the first use: a file of an earlier version has no such table.
  database.exec(KEY_USES);
  database.run('DELETE FROM key_uses');
  for (const [name, { atMs, address }] of uses)
    database.run('INSERT INTO key_uses (name, at, address) VALUES (?, ?, ?)', name, atMs, address);
  writeNumber(database, 'key_uses_since', sinceMs);
}

/** undefined: none have been written. */
export function readKeyUses(database: Database): StoredUses | undefined {
  const sinceMs = readNumber(database, 'key_uses_since');
  if (sinceMs === undefined) return undefined;
  const uses = new Map<string, KeyUse>();
  for (const row of database.rows('SELECT name, at, address FROM key_uses'))
    uses.set(textIn(row, 'name'), { atMs: numberIn(row, 'at') ?? 0, address: textIn(row, 'address') });
  return { sinceMs, uses };
}
