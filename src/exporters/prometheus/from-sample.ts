/** The metrics of a machine that a hub has a sample of: what its own /metrics shows and a sample with detail has too. */
import { PLACES } from '../../fairness/limits.ts';
import { type JsonObject, membersOf } from '../../json.ts';
import { type Family, family, type Labels, writeFamily } from './exposition.ts';

/** A family: its name, its help, the key of its value, and what a unit of the value is in that of the family. */
type Column = readonly [name: string, help: string, key: string, factor?: number];

const MEMORY: readonly Column[] = [
  ['node_memory_MemTotal_bytes', 'Memory information field MemTotal_bytes.', 'total'],
  ['node_memory_MemAvailable_bytes', 'Memory information field MemAvailable_bytes.', 'free'],
];
const SWAP: readonly Column[] = [
  ['node_memory_SwapTotal_bytes', 'Memory information field SwapTotal_bytes.', 'total'],
  ['node_memory_SwapFree_bytes', 'Memory information field SwapFree_bytes.', 'free'],
];
const CPU: readonly Column[] = [
  ['hostwire_cpu_load_ratio', 'Load of all processors together.', 'current_load', 0.01],
  [
    'hostwire_cpu_temperature_celsius',
    'Temperature of the processor, from the sensor that knows it best.',
    'temperature',
  ],
  ['hostwire_cpu_speed_hertz', 'Mean clock speed of the processors.', 'current_speed', 1e9],
];
const LOADS: readonly Column[] = [
  ['node_load1', '1m load average.', '0'],
  ['node_load5', '5m load average.', '1'],
  ['node_load15', '15m load average.', '2'],
];
const DISKS: readonly Column[] = [
  ['node_filesystem_size_bytes', 'Filesystem size in bytes.', 'size'],
  ['node_filesystem_avail_bytes', 'Filesystem space available to non-root users in bytes.', 'available'],
  ['node_filesystem_readonly', 'Filesystem read-only status.', 'read_only'],
  [
    'node_filesystem_device_error',
    'Whether an error occurred while getting statistics for the given device.',
    'stale',
  ],
];
const LINKS: readonly Column[] = [
  ['receive_bytes', 'bytesRecv'],
  ['receive_errs', 'errin'],
  ['receive_drop', 'dropin'],
  ['transmit_bytes', 'bytesSent'],
  ['transmit_errs', 'errout'],
  ['transmit_drop', 'dropout'],
].map(([name, key = '']) => [`node_network_${name}_total`, `Network device statistic ${name}.`, key]);
const GPUS: readonly Column[] = [
  ['hostwire_gpu_load_ratio', 'Share of the last second in which the GPU was busy.', 'load', 0.01],
  ['hostwire_gpu_temperature_celsius', 'Temperature of the GPU.', 'temperature'],
  ['hostwire_gpu_memory_used_bytes', 'Memory of the GPU that is in use.', 'memory_used', 2 ** 20],
  ['hostwire_gpu_memory_size_bytes', 'Memory of the GPU.', 'memory_total', 2 ** 20],
  ['hostwire_gpu_power_watts', 'Power that the GPU takes.', 'power_watts'],
];
const BATTERIES: readonly Column[] = [
  ['node_power_supply_capacity', 'capacity value of /sys/class/power_supply/<power_supply>.', 'percent'],
];

const rowsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.slice(0, PLACES.metricRows.max).map(membersOf) : [];
const textIn = (row: JsonObject, key: string): string => {
  const value = row[key];
  return typeof value === 'string' ? value : '';
};

function families(
  columns: readonly Column[],
  rows: readonly JsonObject[],
  labelsOf: (row: JsonObject, at: number) => Labels = () => ({}),
): readonly Family[] {
  return columns.map(([name, help, key, factor = 1]) => {
    const samples = rows.map((row, at) => {
      const value = row[key];
      const isKnown = typeof value === 'number' || typeof value === 'boolean';
      return { labels: labelsOf(row, at), value: isKnown ? Number(value) * factor : undefined };
    });
    return family(name, help, samples);
  });
}

/** `payload`: of a sample with all sections and detail. The text format 0.0.4. */
export function metricsOfSample(payload: JsonObject): string {
  const [cpu, memory, gpu, network] = ['cpu', 'memory', 'gpu', 'network'].map((key) =>
    membersOf(payload[key]),
  ) as [JsonObject, JsonObject, JsonObject, JsonObject]; // One for each.
  const [loads, gpus] = [cpu['load_average'], rowsOf(gpu['devices'])];
  const all = [
    ...families(
      [['node_time_seconds', 'System time in seconds since epoch (1970).', 'timestamp']],
      [payload],
    ),
    ...families(CPU, [cpu]),
    ...families(LOADS, [membersOf(Array.isArray(loads) ? { ...loads } : {})]),
    ...families(MEMORY, [memory]),
    ...families(SWAP, [membersOf(memory['swap'])]),
    ...families(DISKS, rowsOf(payload['disks']), (disk) => ({
      device: textIn(disk, 'device'),
      fstype: textIn(disk, 'type'),
      mountpoint: textIn(disk, 'fs'),
    })),
    ...families(LINKS, rowsOf(network['interfaces']), (link) => ({ device: textIn(link, 'name') })),
    // As in devices.ts: those of one name are counted.
    ...families(GPUS, gpus, ({ name }, at) => ({
      gpu: String(gpus.slice(0, at).filter((other) => other['name'] === name).length),
      name: typeof name === 'string' ? name : '',
      vendor: textIn(gpus[at] ?? {}, 'vendor'),
    })),
    ...families(BATTERIES, rowsOf(payload['batteries']), (battery) => ({
      power_supply: textIn(battery, 'name'),
    })),
  ];
  return all.map(writeFamily).join('');
}
