/** One row of the table of details (details.ts). */
import type { DetailCounters } from '../host/details.ts';
import type { Counters } from '../host/host.ts';
import type { Details } from '../wire/details.ts';
import type { DetailExtras } from '../wire/usage.ts';

/** Fields of a detailed sample that are in no reading of the host. */
export type SampleFacts = Pick<DetailExtras, 'interval_seconds' | 'host' | 'processes'>;

export type DetailKey = keyof Details;

/** A part that exists but cannot be read, and the reason; null if it can be read. */
export type PartFailure = readonly [part: string, reason: string | null];

/** One number of a sample, to be exported or recorded: a metric's name, its unit, and the thing it belongs to. */
export interface SeriesValue {
  /** In snake_case, without the unit: `battery_power`. */
  readonly name: string;
  readonly unit: 'bytes' | 'celsius' | 'count' | 'hours' | 'percent' | 'rpm' | 'seconds' | 'volts' | 'watts';
  /** The name of one of several things: the battery's name, the sensor's label. */
  readonly of?: string;
  readonly value: number | null;
}

/** All functions are pure. */
export interface DetailRow<Key extends DetailKey> {
  /**
   * Returns the value in the payload; undefined omits the key. Counters are null if the reading failed; `before` are
   * those of the last reading with detail, for rates.
   */
  readonly derive: (
    counters: Counters,
    facts: SampleFacts,
    before: DetailCounters | undefined,
  ) => Details[Key] | undefined;
  /** Each part is reported with its first reason. */
  readonly failures: (counters: Counters) => readonly PartFailure[];
  /** Returns every number of the payload that is worth a chart. */
  readonly series: (payload: NonNullable<Details[Key]>) => readonly SeriesValue[];
}
