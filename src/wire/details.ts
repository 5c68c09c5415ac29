/** What `detail` adds beside the sections, as schemas: one per detail. */
import * as v from 'valibot';
import { processSummary } from './process.ts';
import { known, percent, type Shape, seconds, watts } from './quantities.ts';

export const sensorDetail = v.strictObject({
  label: v.pipe(
    v.string(),
    v.description('The chip or drive, then what it measures there. No two sensors have the same.'),
  ),
  kind: v.picklist(['temperature', 'fan', 'voltage', 'power']),
  value: known(v.number()),
  unit: v.picklist(['°C', 'RPM', 'V', 'W']),
});
export type SensorDetail = Shape<typeof sensorDetail>;

export const batteryDetail = v.strictObject({
  name: v.string(),
  percent: known(percent),
  state: v.picklist(['charging', 'discharging', 'full', 'not_charging', 'unknown']),
  power_watts: v.pipe(
    known(watts),
    v.description('Into it or out of it, as the state says; never negative.'),
  ),
  seconds_left: v.pipe(known(seconds), v.description('Until it is empty or full.')),
  health_percent: v.pipe(
    known(v.pipe(v.number(), v.minValue(0))),
    v.description('What a full charge holds of what it held when new.'),
  ),
});
export type BatteryDetail = Shape<typeof batteryDetail>;

/** One key per detail. src/stats/details.ts has a row for each, and so has web/cards/cards.ts. */
export const details = v.strictObject({
  sensors: v.array(sensorDetail),
  batteries: v.array(batteryDetail),
  processes: v.pipe(
    v.exactOptional(known(processSummary)),
    v.description('Absent while features.enable_processes is off; null until they have been read.'),
  ),
});
export type Details = Shape<typeof details>;

/** The schemas above that the API documents refer to by name. */
export const DETAIL_COMPONENTS = {
  Sensor: sensorDetail,
  Battery: batteryDetail,
} as const;
