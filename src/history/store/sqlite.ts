/** node:sqlite, if the running Node has it without a flag: 22.13 and later. Its types are newer than this build's. */
import { createRequire, isBuiltin } from 'node:module';

export type SqlValue = number | string | null | Uint8Array;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface Statement {
  run(...values: readonly SqlValue[]): unknown;
  get(...values: readonly SqlValue[]): SqlRow | undefined;
  iterate(...values: readonly SqlValue[]): Iterable<SqlRow>;
}

export interface Sqlite {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => Sqlite;
}

const NAME = 'node:sqlite';

export const hasSqlite = (): boolean => isBuiltin(NAME);

/** Blocks as long as the file does, so only the worker calls it. */
export function openSqlite(path: string): Sqlite {
  // Node's documentation of the module.
  const { DatabaseSync } = createRequire(import.meta.url)(NAME) as SqliteModule;
  return new DatabaseSync(path);
}

/** Primary result codes (https://www.sqlite.org/rescode.html). */
export const BUSY = 5;
export const LOCKED = 6;
export const READ_ONLY = 8;
export const CORRUPT = 11;
export const FULL = 13;
export const NO_DATABASE = 26;

/** Returns the primary code of an error of SQLite; undefined for other errors. */
export function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined;
  return error.errcode & 0xff;
}

/** These three return a column of that type; absent or empty if it has another one. */
export function numberIn(row: SqlRow | undefined, column: string): number | undefined {
  const value = row?.[column];
  return typeof value === 'number' ? value : undefined;
}

export function textIn(row: SqlRow, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : '';
}

export function bytesIn(row: SqlRow | undefined, column: string): Uint8Array | undefined {
  const value = row?.[column];
  return value instanceof Uint8Array ? value : undefined;
}
