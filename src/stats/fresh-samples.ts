/** Samples that are young enough to answer requests. */
import type { Clock } from '../clock.ts';
import { FRESH_MS } from './freshness.ts';
import { covers, unite } from './needs.ts';
import type { Sample } from './sample.ts';
import { Encoded } from './view.ts';

interface CachedSample {
  readonly encoded: Encoded;
  /** Its content: a set of keys (needs.ts). */
  readonly keys: number;
  /** Time of the request, on the clock with suspended time: a sample from before a sleep is not fresh after it. */
  readonly askedAtMs: number;
}

export class FreshSamples {
  readonly #clock: Pick<Clock, 'sinceBoot'>;
  /** The newest first, then older ones that have more keys. */
  #cached: readonly CachedSample[] = [];

  constructor(clock: Pick<Clock, 'sinceBoot'>) {
    this.#clock = clock;
  }

  /** Returns the keys of all of them. */
  get keys(): number {
    return this.#cached.reduce(
      (keys, cached) => (this.#isFresh(cached) ? unite(keys, cached.keys) : keys),
      0,
    );
  }

  find(wanted: number): Encoded | undefined {
    return this.#cached.find((cached) => covers(cached.keys, wanted) && this.#isFresh(cached))?.encoded;
  }

  keep(keys: number, sample: Sample, askedAtMs = this.#clock.sinceBoot()): Encoded {
    const encoded = new Encoded(sample);
    const others = this.#cached.filter((cached) => !covers(keys, cached.keys) && this.#isFresh(cached));
    this.#cached = [{ encoded, keys, askedAtMs }, ...others];
    return encoded;
  }

  /** Drops samples that are too old. */
  prune(): void {
    this.#cached = this.#cached.filter((cached) => this.#isFresh(cached));
  }

  #isFresh({ askedAtMs }: CachedSample): boolean {
    return this.#clock.sinceBoot() - askedAtMs < FRESH_MS;
  }
}
