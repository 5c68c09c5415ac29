/** The configuration in effect, and the one way to learn that it has changed. */
import { Listeners } from '../listeners.ts';
import type { Config } from './config.ts';

/** Read `current` at each use: a reload replaces the whole object. */
export interface CurrentConfig {
  readonly current: Config;
}

export class LiveConfig implements CurrentConfig {
  readonly #listeners = new Listeners<[before: Config]>();
  #current: Config;

  constructor(initial: Config) {
    this.#current = initial;
  }

  get current(): Config {
    return this.#current;
  }

  /** Calls `listener` after each change, with the configuration before it, until the returned function is called. */
  onChange(listener: (before: Config) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Puts `next` into effect. Where a listener throws, the configuration before it is in effect again. */
  replace(next: Config): void {
    const before = this.#current;
    this.#current = next;
    try {
      this.#listeners.notify(before);
    } catch (error) {
      this.#current = before;
      throw error;
    }
  }
}
