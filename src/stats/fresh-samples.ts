/** The samples that are young enough to answer requests. */
import type { Clock } from '../clock.ts';
import { covers, unite } from './needs.ts';
import type { Sample } from './sample.ts';
import { Encoded } from './view.ts';

/** Maximum age of a sample that answers a request. */
const FRESH_MS = 1000;

interface CachedSample {
  readonly encoded: Encoded;
  /** What it has: a set of keys (needs.ts). */
  readonly keys: number;
  /** Of the clock that counts suspended time: a sample from before a sleep is not fresh after it. */
  readonly sinceBootMs: number;
}

export class FreshSamples {
  readonly #clock: Pick<Clock, 'sinceBoot'>;
  /** The newest first, and older ones that have more. */
  #cached: readonly CachedSample[] = [];

  constructor(clock: Pick<Clock, 'sinceBoot'>) {
    this.#clock = clock;
  }

  /** What they have, together. */
  get keys(): number {
    return this.#cached.reduce(
      (keys, cached) => (this.#isFresh(cached) ? unite(keys, cached.keys) : keys),
      0,
    );
  }

  find(wanted: number): Encoded | undefined {
    return this.#cached.find((cached) => covers(cached.keys, wanted) && this.#isFresh(cached))?.encoded;
  }

  keep(keys: number, sample: Sample): Encoded {
    const encoded = new Encoded(sample);
    const others = this.#cached.filter((cached) => !covers(keys, cached.keys) && this.#isFresh(cached));
    this.#cached = [{ encoded, keys, sinceBootMs: this.#clock.sinceBoot() }, ...others];
    return encoded;
  }

  /** Drops those that are too old. */
  prune(): void {
    this.#cached = this.#cached.filter((cached) => this.#isFresh(cached));
  }

  #isFresh({ sinceBootMs }: CachedSample): boolean {
    return this.#clock.sinceBoot() - sinceBootMs < FRESH_MS;
  }
}
