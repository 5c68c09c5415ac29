/** Opens and closes the file: one connection, which has the file to itself. */
import { claimFile, identityOf, judgeVersion } from './file.ts';
import { JOURNAL, SCHEMA, SETTINGS } from './schema.ts';
import { numberIn, openSqlite, type Sqlite, type SqlRow, type SqlValue, type Statement } from './sqlite.ts';

export class Database {
  readonly path: string;
  readonly #sqlite: Sqlite;
  readonly #identity: string | undefined;
  readonly #statements = new Map<string, Statement>();

  /** Throws Refusal, or an error of SQLite or of the filesystem. */
  constructor(path: string) {
    this.path = path;
    claimFile(path);
    this.#identity = identityOf(path);
    this.#sqlite = openSqlite(path);
    try {
      this.#sqlite.exec(SETTINGS);
      // This takes the lock.
      const version = numberIn(this.get('PRAGMA user_version'), 'user_version') ?? 0;
      judgeVersion(version);
      // Uses a rollback journal, so that the header is in the file itself once it is ours.
      if (version === 0) this.#create();
      this.#sqlite.exec(JOURNAL);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #create(): void {
    this.#sqlite.exec('PRAGMA auto_vacuum = INCREMENTAL');
    this.transaction(() => this.#sqlite.exec(SCHEMA));
  }

  /** Returns whether the path still leads to the open file. */
  get isInPlace(): boolean {
    return this.#identity !== undefined && identityOf(this.path) === this.#identity;
  }

  exec(sql: string): void {
    this.#sqlite.exec(sql);
  }

  /** Statements are prepared once: their texts are constants. */
  #prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#sqlite.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  get(sql: string, ...values: readonly SqlValue[]): SqlRow | undefined {
    return this.#prepare(sql).get(...values);
  }

  run(sql: string, ...values: readonly SqlValue[]): void {
    this.#prepare(sql).run(...values);
  }

  rows(sql: string, ...values: readonly SqlValue[]): Iterable<SqlRow> {
    return this.#prepare(sql).iterate(...values);
  }

  /** Runs all of `act` or nothing. Throws its exceptions, and those of the commit. */
  transaction<T>(act: () => T): T {
    this.#sqlite.exec('BEGIN IMMEDIATE');
    try {
      const result = act();
      this.#sqlite.exec('COMMIT');
      return result;
    } catch (error) {
      try {
        this.#sqlite.exec('ROLLBACK');
      } catch {
        // SQLite has already rolled back.
      }
      throw error;
    }
  }

  close(): void {
    this.#statements.clear();
    try {
      this.#sqlite.close();
    } catch {
      // All committed data is in the write-ahead log.
    }
  }
}
