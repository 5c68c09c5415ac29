/** The details beside the sections, as schemas: one per detail. */
import * as v from 'valibot';
import { means } from './meaning.ts';
import { processSummary } from './process.ts';
import {
  bytes,
  celsius,
  count,
  hours,
  known,
  openPercent,
  percent,
  processors,
  type Shape,
  seconds,
  watts,
} from './quantities.ts';

export const sensorDetail = v.strictObject({
  label: means(v.string(), 'Chip or drive, then what it measures there; unique.'),
  kind: means(v.picklist(['temperature', 'fan', 'voltage', 'power']), 'What it measures.'),
  value: means(known(v.number()), 'Reading, in `unit`.'),
  unit: means(v.picklist(['°C', 'RPM', 'V', 'W']), 'Unit of the value.'),
});
export type SensorDetail = Shape<typeof sensorDetail>;

export const batteryDetail = v.strictObject({
  name: means(v.string(), 'Name in the system.'),
  percent: means(known(percent), 'Charge.'),
  state: means(
    v.picklist(['charging', 'discharging', 'full', 'not_charging', 'unknown']),
    'State of charge or discharge.',
  ),
  power_watts: means(known(watts), 'Power into it or out of it, as the state says; never negative.'),
  seconds_left: means(known(seconds), 'Time until it is empty or full.'),
  health_percent: means(known(openPercent), 'Capacity of a full charge compared to a new battery.'),
});
export type BatteryDetail = Shape<typeof batteryDetail>;

const driveHealth = v.strictObject({
  passed: means(known(v.boolean()), "The drive's own verdict; false when it predicts its failure."),
  percentage_used: means(known(openPercent), 'Rated endurance that has been used; may exceed 100.'),
  power_on_hours: means(known(hours), 'Time switched on, over its life.'),
  temperature: means(known(celsius), 'Temperature; null while the drive sleeps.'),
  media_errors: means(known(count), 'Unrecoverable reads and writes, over its life.'),
});

export const driveDetail = v.strictObject({
  name: means(v.string(), 'Name in the system.'),
  model: means(known(v.string()), 'Product name.'),
  kind: means(v.picklist(['nvme', 'ata', 'scsi', 'other']), 'How the system talks to it.'),
  health: means(known(driveHealth), 'Report of the drive about itself (SMART), at most every 5 minutes.'),
  reason: means(known(v.string()), 'Why health is null.'),
});
export type DriveDetail = Shape<typeof driveDetail>;

export const limitsDetail = v.strictObject({
  memory_bytes: means(known(bytes), 'Memory that it may use; null without a limit.'),
  memory_used_bytes: means(known(bytes), 'Use by all processes that share this limit.'),
  cpus: means(known(processors), 'Processor time that it may use; null without a limit.'),
  throttled_percent: means(
    known(percent),
    'Share of the periods since the previous sample in which that time was used up.',
  ),
});
export type LimitsDetail = Shape<typeof limitsDetail>;

/** One key per detail. src/stats/details.ts has a row for each, and so has web/cards/table.ts. */
export const details = v.strictObject({
  sensors: means(v.array(sensorDetail), 'Temperatures, fans, voltages and power.'),
  batteries: means(v.array(batteryDetail), 'Batteries of the machine.'),
  drives: means(v.array(driveDetail), 'Drives of the machine; empty until they have been searched for.'),
  limits: means(
    known(limitsDetail),
    'Limits of the service by its container, unit or job; all other figures are those of the machine. Null without a limit, or if it cannot be read.',
  ),
  processes: means(
    v.exactOptional(known(processSummary)),
    'Absent while features.enable_processes is off; null until they have been read.',
  ),
});
export type Details = Shape<typeof details>;

/** The schemas above that the API documents refer to by name. */
export const DETAIL_COMPONENTS = {
  Sensor: sensorDetail,
  Battery: batteryDetail,
  Drive: driveDetail,
  Limits: limitsDetail,
} as const;
