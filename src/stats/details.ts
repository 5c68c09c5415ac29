/** The details beside the sections, one row per key of the payload. */
import type { DetailCounters } from '../host/details.ts';
import type { Counters } from '../host/host.ts';
import type { Details } from '../wire/details.ts';
import type { DetailExtras } from '../wire/usage.ts';
import { BATTERIES } from './batteries.ts';
import type { DetailKey, DetailRow, SampleFacts, SeriesValue } from './detail-row.ts';
import { DRIVES } from './drives.ts';
import { LIMITS } from './limits.ts';
import { PROCESSES } from './processes.ts';
import { SENSORS } from './sensors.ts';

/** In the order of the payload's keys. */
export const DETAILS: { readonly [Key in DetailKey]: DetailRow<Key> } = {
  sensors: SENSORS,
  batteries: BATTERIES,
  drives: DRIVES,
  limits: LIMITS,
  processes: PROCESSES,
};

// Object.keys is typed as strings, because an object may have more keys than its type; this one does not.
export const DETAIL_KEYS = Object.keys(DETAILS) as readonly DetailKey[];

/** `before`: those of the last reading with detail. `window_seconds`: null if the sample is compared with none. */
export function deriveExtras(
  facts: SampleFacts,
  counters: Counters,
  before?: DetailCounters,
  window_seconds: number | null = null,
): DetailExtras {
  const { interval_seconds, host } = facts;
  const extras: Record<string, unknown> = { interval_seconds, window_seconds, host };
  for (const key of DETAIL_KEYS) {
    const value = DETAILS[key].derive(counters, facts, before);
    if (value !== undefined) extras[key] = value;
  }
  // The loop loses the types: each value is the one that its key's row derives.
  return extras as unknown as DetailExtras;
}

/** Returns the parts that exist but could not be read, with one reason each. */
export function failedParts(counters: Counters): ReadonlyMap<string, string> {
  const failed = new Map<string, string>();
  const parts = [
    ['cpu power', counters.cpu?.energy?.failure ?? null] as const,
    ...DETAIL_KEYS.flatMap((key) => DETAILS[key].failures(counters)),
  ];
  for (const [part, reason] of parts) if (reason !== null && !failed.has(part)) failed.set(part, reason);
  return failed;
}

function seriesOf<Key extends DetailKey>(key: Key, details: Details): readonly SeriesValue[] {
  const payload = details[key];
  return payload ? DETAILS[key].series(payload) : [];
}

/** Returns the numbers of all details, in the order of the table. */
export function detailSeries(details: Details): readonly SeriesValue[] {
  return DETAIL_KEYS.flatMap((key) => seriesOf(key, details));
}
