/** The ids of series in the file. */
import type { Database } from './database.ts';
import { DAY_SECONDS } from './messages.ts';
import { numberIn, textIn } from './sqlite.ts';

interface Known {
  readonly id: number;
  seen: number;
}

/** A name whose unit has changed is a different series. */
const keyOf = (name: string, unit: string) => `${name}\n${unit}`;

export class SeriesTable {
  readonly #database: Database;
  readonly #known = new Map<string, Known>();
  /** The newest id of each name, with its unit. */
  readonly #newest = new Map<string, { readonly id: number; readonly unit: string }>();
  /** Names that were not handed out yet. */
  #news: string[] = [];

  constructor(database: Database) {
    this.#database = database;
    for (const row of database.rows('SELECT id, name, unit, seen FROM series ORDER BY id'))
      this.#add(
        textIn(row, 'name'),
        textIn(row, 'unit'),
        numberIn(row, 'id') ?? 0,
        numberIn(row, 'seen') ?? 0,
      );
  }

  #add(name: string, unit: string, id: number, seen: number): void {
    this.#known.set(keyOf(name, unit), { id, seen });
    if (!this.#newest.has(name)) this.#news.push(name);
    this.#newest.set(name, { id, unit });
  }

  /** Returns its id, creating it if new. Must be called within a transaction; reset() must follow if that fails. */
  idOf(name: string, unit: string, at: number): number {
    const day = Math.floor(at / DAY_SECONDS);
    const known = this.#known.get(keyOf(name, unit));
    if (known === undefined) {
      this.#database.run('INSERT INTO series (name, unit, seen) VALUES (?, ?, ?)', name, unit, day);
      const id = numberIn(this.#database.get('SELECT last_insert_rowid() AS id'), 'id') ?? 0;
      this.#add(name, unit, id, day);
      return id;
    }
    if (known.seen < day) {
      this.#database.run('UPDATE series SET seen = ? WHERE id = ?', day, known.id);
      known.seen = day;
    }
    return known.id;
  }

  /** Undefined: no series has that name. */
  find(name: string): { readonly id: number; readonly unit: string } | undefined {
    return this.#newest.get(name);
  }

  /** Returns the names added since the last call. */
  takeNews(): readonly string[] {
    const news = this.#news;
    this.#news = [];
    return news;
  }

  /** Removes names that no row before `at` can use any longer. */
  forgetBefore(at: number): void {
    const day = Math.floor(at / DAY_SECONDS) - 1;
    for (const [key, { seen }] of this.#known) if (seen < day) this.#known.delete(key);
    const ids = new Set([...this.#known.values()].map(({ id }) => id));
    for (const [name, { id }] of this.#newest) if (!ids.has(id)) this.#newest.delete(name);
    this.#database.run('DELETE FROM series WHERE seen < ?', day);
  }
}
