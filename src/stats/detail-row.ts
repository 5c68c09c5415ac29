/** What one row of the table of details (details.ts) consists of. */
import type { DetailCounters } from '../host/details.ts';
import type { Counters } from '../host/host.ts';
import type { Details } from '../wire/details.ts';
import type { DetailExtras } from '../wire/usage.ts';

/** What a detailed sample says that is in no reading of the host. */
export type SampleFacts = Pick<DetailExtras, 'interval_seconds' | 'host' | 'processes'>;

export type DetailKey = keyof Details;

/** A part that is there but cannot be read, and the reason; null where it can be read. */
export type PartFailure = readonly [part: string, reason: string | null];

/** One number of a sample, for what exports or keeps numbers: a metric's name, its unit, which thing it belongs to. */
export interface SeriesValue {
  /** In snake_case, without the unit: `battery_power`. */
  readonly name: string;
  readonly unit: 'bytes' | 'celsius' | 'count' | 'hours' | 'percent' | 'rpm' | 'seconds' | 'volts' | 'watts';
  /** Which one of several things: the battery's name, the sensor's label. */
  readonly of?: string;
  readonly value: number | null;
}

/** All functions are pure. */
export interface DetailRow<Key extends DetailKey> {
  /**
   * The value in the payload; undefined leaves the key out. Counters are null where the reading failed; `before` are
   * those of the last reading with detail, for rates.
   */
  readonly derive: (
    counters: Counters,
    facts: SampleFacts,
    before: DetailCounters | undefined,
  ) => Details[Key] | undefined;
  /** Each part is reported with its first reason. */
  readonly failures: (counters: Counters) => readonly PartFailure[];
  /** Every number of the payload that is worth a chart. */
  readonly series: (payload: NonNullable<Details[Key]>) => readonly SeriesValue[];
}
