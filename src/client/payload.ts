/** The type of a sample by the sections it was requested with, with or without detail. */
import type { Usage, UsageDetail } from '../wire/usage.ts';

type Sample<D extends boolean> = D extends true ? UsageDetail : Usage;

export type Section = Exclude<keyof Usage, 'timestamp' | 'uptime'>;

/** Any section may be absent: one that the service cannot read at the moment is left out. `gpu: null`: there is none. */
export type StatsPayload<S extends Section = Section, D extends boolean = false> = {
  /** Unix seconds. */
  readonly timestamp: number;
  /** Seconds since boot. */
  readonly uptime: number;
} & Pick<Sample<D>, S | Exclude<keyof Sample<D>, Section>>;
