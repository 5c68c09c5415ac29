/** The listeners of one kind of event. */

export class Listeners<Values extends readonly unknown[] = readonly []> {
  readonly #all = new Set<(...values: Values) => void>();

  /** Returns a function that removes `listener`. */
  add(listener: (...values: Values) => void): () => void {
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  }

  /** Calls every listener, in the order in which they were added. They must not throw. */
  notify(...values: Values): void {
    for (const listener of this.#all) listener(...values);
  }
}
