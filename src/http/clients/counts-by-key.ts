/** How many of something each key has, for example each client address. Keys that have none take no memory. */
export class CountsByKey<Key = string> {
  readonly #counts = new Map<Key, number>();

  /** Keys that have any. */
  get size(): number {
    return this.#counts.size;
  }

  of(key: Key): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Returns the count after it. */
  add(key: Key, more = 1): number {
    const count = this.of(key) + more;
    this.#counts.set(key, count);
    return count;
  }

  /** Returns the count that is left. */
  remove(key: Key): number {
    const left = this.of(key) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
    return left;
  }

  [Symbol.iterator](): IterableIterator<[Key, number]> {
    return this.#counts.entries();
  }
}
