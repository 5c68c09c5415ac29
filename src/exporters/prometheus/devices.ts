/** Families of what probers ask: filesystems, sensors and batteries with node_exporter's names, GPUs with our own. */
import { PLACES } from '../../fairness/limits.ts';
import type { BatteryCounters, SensorCounters } from '../../host/details.ts';
import type { Counters, DiskCounters, GpuCounters } from '../../host/host.ts';
import { type Family, family, type Labels, type MetricSample, single } from './exposition.ts';

function filesystemLabels({ device, type, mountPoint }: DiskCounters): Labels {
  return { device: device ?? '', fstype: type ?? '', mountpoint: mountPoint };
}

/** By the end of the family's name. A filesystem that does not answer keeps its last sizes, and has device_error 1. */
const FILESYSTEM_FAMILIES: readonly (readonly [
  name: string,
  help: string,
  value: (disk: DiskCounters) => MetricSample['value'],
])[] = [
  ['size_bytes', 'Filesystem size in bytes.', ({ usage }) => usage?.totalBytes],
  ['free_bytes', 'Filesystem free space in bytes.', ({ usage }) => usage?.freeBytes],
  [
    'avail_bytes',
    'Filesystem space available to non-root users in bytes.',
    ({ usage }) => usage?.availableBytes,
  ],
  ['files', 'Filesystem total file nodes.', ({ files }) => files],
  ['files_free', 'Filesystem total free file nodes.', ({ filesFree }) => filesFree],
  ['readonly', 'Filesystem read-only status.', ({ isReadOnly }) => Number(isReadOnly === true)],
  [
    'device_error',
    'Whether an error occurred while getting statistics for the given device.',
    ({ usage, isStale }) => Number(usage === null || isStale === true),
  ],
];

function filesystems(all: readonly DiskCounters[]): readonly Family[] {
  const disks = all.slice(0, PLACES.metricRows.max);
  return FILESYSTEM_FAMILIES.map(([name, help, value]) =>
    family(
      `node_filesystem_${name}`,
      help,
      disks.map((disk) => ({ labels: filesystemLabels(disk), value: value(disk) })),
    ),
  );
}

/** As node_exporter makes a part of a label from a name of the system. */
const cleanName = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9:_]/g, '_')
    .replaceAll(/^_+|(?<!_)_+$/g, '');

/** "platform/coretemp.0" as platform_coretemp_0. */
function chipOf({ device = '', chip }: SensorCounters): string {
  const parts = device
    .split('/')
    .map(cleanName)
    .filter((part) => part !== '');
  return parts.length === 0 ? cleanName(chip) : parts.join('_');
}

const SENSOR_FAMILIES = {
  temperature: ['temp', 'celsius', 'temperature'],
  fan: ['fan', 'rpm', 'fan revolutions per minute'],
  voltage: ['in', 'volts', 'voltage'],
  power: ['power', 'watt', 'power usage in watts'],
} as const;

interface NamedSensor {
  /** The name of its family. */
  readonly name: string;
  readonly help: string;
  readonly labels: { readonly chip: string; readonly sensor: string };
  readonly counters: SensorCounters;
}

/** The file "power1_average" is the sensor power1, whose value is in the family of averages. */
function nameSensor(counters: SensorCounters): NamedSensor | undefined {
  const [sensor = '', element = ''] = (counters.file ?? '').split('_', 2);
  if (sensor === '') return undefined;
  const [stem, unit, what] = SENSOR_FAMILIES[counters.kind];
  return {
    name: `node_hwmon_${stem}${element === 'input' ? '' : `_${element}`}_${unit}`,
    help: `Hardware monitor for ${what} (${element})`,
    labels: { chip: chipOf(counters), sensor },
    counters,
  };
}

function sensors(all: readonly SensorCounters[]): readonly Family[] {
  const named = all.flatMap((counters) => nameSensor(counters) ?? []);
  const values = new Map<string, { readonly help: string; readonly samples: MetricSample[] }>();
  for (const { name, help, labels, counters } of named) {
    const kept = values.get(name) ?? { help, samples: [] };
    kept.samples.push({ labels, value: counters.value });
    values.set(name, kept);
  }
  const chips = new Map(named.map(({ labels, counters }) => [labels.chip, cleanName(counters.driver)]));
  const ownLabels = named.filter(({ counters }) => (counters.ownLabel ?? '') !== '');
  return [
    ...[...values].map(([name, { help, samples }]) => family(name, help, samples)),
    family(
      'node_hwmon_chip_names',
      'Annotation metric for human-readable chip names',
      [...chips].map(([chip, chip_name]) => ({ labels: { chip, chip_name }, value: 1 })),
    ),
    family(
      'node_hwmon_sensor_label',
      'Label for given chip and sensor',
      ownLabels.map(({ labels, counters }) => ({
        labels: { ...labels, label: counters.ownLabel ?? '' },
        value: 1,
      })),
    ),
  ];
}

type BatteryValue = Exclude<keyof BatteryCounters, 'name' | 'state' | 'failure'>;
/** By the middle of the family's name: as the kernel calls the file, and the unit. */
const BATTERY_FAMILIES: readonly (readonly [name: string, help: string, value: BatteryValue])[] = [
  ['capacity', 'capacity', 'percent'],
  ['energy_watthour', 'energy_watthour', 'energyWh'],
  ['energy_full', 'energy_full', 'energyFullWh'],
  ['energy_full_design', 'energy_full_design', 'energyDesignWh'],
  ['charge_ampere', 'charge_ampere', 'chargeAh'],
  ['charge_full', 'charge_full', 'chargeFullAh'],
  ['charge_full_design', 'charge_full_design', 'chargeDesignAh'],
  ['voltage_volt', 'voltage_volt', 'voltageVolts'],
  ['power_watt', 'power_watt', 'powerWatts'],
  ['current_ampere', 'current_ampere', 'currentAmps'],
  ['time_to_empty_seconds', 'time_to_empty_seconds', 'secondsToEmpty'],
  ['time_to_full_seconds', 'time_to_full_seconds', 'secondsToFull'],
];

const batteries = (all: readonly BatteryCounters[]): readonly Family[] =>
  BATTERY_FAMILIES.map(([name, help, value]) =>
    family(
      `node_power_supply_${name}`,
      `${help} value of /sys/class/power_supply/<power_supply>.`,
      all.map((battery) => ({ labels: { power_supply: battery.name }, value: battery[value] })),
    ),
  );

/** By the end of the family's name, with what a unit of the value is in the unit of the family. */
const GPU_FAMILIES: readonly (readonly [
  name: string,
  help: string,
  value: Exclude<keyof GpuCounters, 'name' | 'vendor'>,
  factor?: number,
])[] = [
  ['load_ratio', 'Share of the last second in which the GPU was busy.', 'loadPercent', 0.01],
  ['temperature_celsius', 'Temperature of the GPU.', 'temperatureCelsius'],
  ['memory_used_bytes', 'GPU memory in use.', 'memoryUsedBytes'],
  ['memory_size_bytes', 'GPU memory.', 'memoryTotalBytes'],
  ['power_watts', 'Power draw of the GPU.', 'powerWatts'],
  ['fan_ratio', 'Fan speed of the GPU, relative to its maximum.', 'fanPercent', 0.01],
  ['clock_hertz', 'Clock speed of the GPU.', 'clockMhz', 1e6],
  ['asleep', '1 while the GPU is in runtime suspend, and is not read.', 'isAsleep'],
];

/**
 * The list begins with those that are awake, so a place in it would be another device's after a sleep: `gpu` counts
 * those of one name.
 */
function gpus(all: readonly GpuCounters[]): readonly Family[] {
  const labels = all.map(({ name, vendor }, at) => ({
    gpu: String(all.slice(0, at).filter((other) => other.name === name).length),
    name,
    vendor,
  }));
  return GPU_FAMILIES.map(([name, help, key, factor = 1]) =>
    family(
      `hostwire_gpu_${name}`,
      help,
      all.map(({ [key]: value }, at) => ({
        labels: labels[at] ?? {},
        value: value === null ? null : Number(value) * factor,
      })),
    ),
  );
}

/** The families of a reading with disks, gpu, cpu, sensors and batteries. */
export function deviceFamilies(counters: Counters): readonly Family[] {
  return [
    ...filesystems(counters.disks ?? []),
    ...sensors(counters.sensors ?? []),
    ...batteries(counters.batteries ?? []),
    ...gpus(counters.gpu ?? []),
    single(
      'hostwire_cpu_temperature_celsius',
      'Temperature of the processor, from its most reliable sensor.',
      counters.cpu?.temperatureCelsius,
    ),
    single('hostwire_cpu_speed_hertz', 'Mean clock speed of the processors.', counters.cpu?.speedHz),
  ];
}
