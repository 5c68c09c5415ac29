/** Earlier readings by key (needs.ts), and when each was taken. */
import { SECTION_BITS } from '../host/host.ts';
import { type Baseline, NO_BASELINE } from './baseline.ts';
import { bitsOf, covers, detailKey, keyOfDetail } from './needs.ts';

/** Maximum age of a reading that others are compared with. */
const COMPARABLE_MS = 600_000;

type BaselineField = Exclude<keyof Baseline, 'totals'>;

const KEY_OF: Readonly<Record<BaselineField, number>> = {
  cpu: SECTION_BITS.cpu,
  cores: detailKey(SECTION_BITS.cpu),
  energy: detailKey(SECTION_BITS.cpu),
  disks: detailKey(SECTION_BITS.disks),
  network: SECTION_BITS.network,
  // The only detail that is a rate.
  details: keyOfDetail('limits'),
};

/** Returns the readings that `fresh` has of `keys`, and the others of `kept`; the totals are those of `fresh`. */
export function withKeys(kept: Baseline, fresh: Baseline, keys: number): Baseline {
  const pick = <Field extends BaselineField>(field: Field) =>
    (covers(keys, KEY_OF[field]) ? fresh[field] : undefined) ?? kept[field];
  return {
    cpu: pick('cpu'),
    cores: pick('cores'),
    energy: pick('energy'),
    disks: pick('disks'),
    network: pick('network'),
    details: pick('details'),
    totals: fresh.totals,
  };
}

/** Returns those of `keys` for which `holds`. */
export const keysThat = (keys: number, holds: (key: number) => boolean) =>
  bitsOf(keys).reduce((all, key) => (holds(key) ? all | key : all), 0);

/** The last reading of each key. All times are of one clock. */
export class Readings {
  #baseline: Baseline = NO_BASELINE;
  readonly #takenAtMs = new Map<number, number>();

  /** Returns the age of the last reading of `key`; Infinity if there is none that may be compared with. */
  ageMs(key: number, nowMs: number): number {
    const ageMs = nowMs - (this.#takenAtMs.get(key) ?? Number.NEGATIVE_INFINITY);
    return ageMs <= COMPARABLE_MS ? ageMs : Number.POSITIVE_INFINITY;
  }

  knows(keys: number, nowMs: number): boolean {
    return bitsOf(keys).every((key) => this.ageMs(key, nowMs) <= COMPARABLE_MS);
  }

  /** Returns the known readings of `keys`, and those of `fallback` for the others. */
  over(fallback: Baseline, keys: number, nowMs: number): Baseline {
    const known = keysThat(keys, (key) => this.ageMs(key, nowMs) <= COMPARABLE_MS);
    return withKeys(fallback, this.#baseline, known);
  }

  /** Replaces those of `keys`. */
  keep(keys: number, fresh: Baseline, nowMs: number): void {
    this.#baseline = withKeys(this.#baseline, fresh, keys);
    for (const key of bitsOf(keys)) this.#takenAtMs.set(key, nowMs);
  }
}
