/** What detail shows beside the sections, and which parts of a reading failed. */
import type { Counters } from '../host/host.ts';
import type { TopDetail } from '../wire/usage.ts';
import { deriveBatteries } from './batteries.ts';
import { deriveSensors } from './sensors.ts';

/** What no reading tells. */
export type About = Pick<TopDetail, 'interval_seconds' | 'host' | 'processes'>;

export function deriveTop(about: About, counters: Counters): TopDetail {
  const { interval_seconds, host, processes } = about;
  const sensors = deriveSensors(counters.sensors);
  const batteries = deriveBatteries(counters.batteries);
  if (processes === undefined) return { interval_seconds, host, sensors, batteries };
  return { interval_seconds, host, sensors, batteries, processes };
}

/** What could not be read though it is there, and why: one reason a chip, a battery. */
export function failedParts(counters: Counters): ReadonlyMap<string, string> {
  const failed = new Map<string, string>();
  const note = (part: string, failure: string | null | undefined) => {
    if (failure && !failed.has(part)) failed.set(part, failure);
  };
  note('cpu power', counters.cpu?.energy?.failure);
  for (const { chip, failure } of counters.sensors ?? []) note(`sensors of ${chip}`, failure);
  for (const { name, failure } of counters.batteries ?? []) note(`battery ${name}`, failure);
  return failed;
}
