/** The readings that requests are compared with: one set for all of them. */
import { SECTION_BITS } from '../host/host.ts';
import { type Baseline, type BaselineField, mergeBaselines, NO_BASELINE } from './baseline.ts';
import { bitsOf, covers, detailKey, keyOfDetail } from './needs.ts';

/** Maximum age of a reading that is compared with, and kept. */
export const MAX_BASELINE_AGE_MS = 600_000;
/**
 * Minimum age of a reading that is compared with: with a younger one the second of two requests of different views
 * would be answered with noise. Shorter than the time between two readings of one view (fresh-samples.ts) less the wait
 * for a window.
 */
const MIN_WINDOW_MS = 500;

const KEY_OF: Readonly<Record<BaselineField, number>> = {
  cpu: SECTION_BITS.cpu,
  cores: detailKey(SECTION_BITS.cpu),
  energy: detailKey(SECTION_BITS.cpu),
  disks: detailKey(SECTION_BITS.disks),
  network: SECTION_BITS.network,
  // The only detail that is a rate.
  details: keyOfDetail('limits'),
};

/** Returns `fresh` in the fields of `keys`, `kept` in the others; the totals are those of `fresh`. */
export const withKeys = (kept: Baseline, fresh: Baseline, keys: number) =>
  mergeBaselines(kept, fresh, (field) => covers(keys, KEY_OF[field]));

/** Returns those of `keys` for which `holds`. */
export const keysThat = (keys: number, holds: (key: number) => boolean) =>
  bitsOf(keys).reduce((all, key) => (holds(key) ? all | key : all), 0);

/**
 * Two readings per key: a request that arrives soon after another is compared with the older one. Keys are those of
 * `keysOf` (needs.ts), and all times are of one clock.
 */
export class PollBaseline {
  #older: Baseline = NO_BASELINE;
  #newer: Baseline = NO_BASELINE;
  /** The time of each key of `#newer`. */
  readonly #readAtMs = new Map<number, number>();

  get newest(): Baseline {
    return this.#newer;
  }

  /** Returns whether a reading exists that `key` can be compared with now. */
  knows(key: number, nowMs: number): boolean {
    return this.#ageMs(key, nowMs) <= MAX_BASELINE_AGE_MS;
  }

  /** Returns the known readings that one taken now is compared with. */
  at(nowMs: number): Baseline {
    return mergeBaselines(
      this.#older,
      this.#newer,
      (field) => this.#ageMs(KEY_OF[field], nowMs) >= MIN_WINDOW_MS,
    );
  }

  /** Keeps `fresh`, a reading of `keys` that was compared with `before`. */
  keep(keys: number, fresh: Baseline, before: Baseline, nowMs: number): void {
    const replaced = keysThat(keys, (key) => this.#ageMs(key, nowMs) >= MIN_WINDOW_MS);
    // The older reading must not remain if it was compared with: its window would grow from request to
    // request.
    const known = keysThat(replaced, (key) => this.knows(key, nowMs));
    this.#older = withKeys(this.#older, withKeys(before, this.#newer, known), replaced);
    this.#newer = withKeys(this.#newer, fresh, replaced);
    for (const key of bitsOf(replaced)) this.#readAtMs.set(key, nowMs);
  }

  #ageMs(key: number, nowMs: number): number {
    return nowMs - (this.#readAtMs.get(key) ?? Number.NEGATIVE_INFINITY);
  }
}
