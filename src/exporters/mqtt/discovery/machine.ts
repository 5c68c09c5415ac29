/** The entities of which a machine has one each, and the parts of a sample that all entities are made of. */
import type { SystemInfo } from '../../../host/host.ts';
import type { Sample } from '../../../stats/sample.ts';
import type { ProcessSummary } from '../../../wire/process.ts';
import type { CpuDetail, MemoryDetail, NetworkDetail } from '../../../wire/sample.ts';
import type { DetailExtras } from '../../../wire/usage.ts';
import {
  DIAGNOSTIC,
  type Entity,
  entitiesOf,
  GIB,
  GIGABYTE,
  GROWING,
  MEASURED,
  MEGABIT,
  OFF,
  only,
  percent,
  plain,
  type Row,
} from './entity.ts';

/** The readings from which a message is made. */
export interface Reading {
  /** With detail, all sections and all details. */
  readonly sample: Sample;
  readonly system: SystemInfo;
  /** The version of hostwire. */
  readonly version: string;
  /** Unix seconds; see `settleBootTime`. */
  readonly bootedAt: number;
}

const BOOT_TOLERANCE_SECONDS = 60;

/**
 * When the machine was started, in Unix seconds. It is the difference of two clocks, one of which is being corrected:
 * `known`, what it was before, stays unless it is quite wrong, so that Home Assistant does not record each second of it.
 */
export function settleBootTime({ timestamp, uptime }: Sample, known?: number): number {
  const found = timestamp - uptime;
  return known !== undefined && Math.abs(found - known) <= BOOT_TOLERANCE_SECONDS ? known : found;
}

const load = (at: 0 | 1 | 2, minutes: string): Row<CpuDetail> => ({
  key: `load_${minutes}`,
  name: `load ${minutes} min`,
  value: ({ load_average }) => load_average?.[at] ?? null,
  show: { ...plain('mdi:gauge', 2), ...OFF },
});

const CPU: readonly Row<CpuDetail>[] = [
  {
    key: 'load',
    name: 'load',
    value: ({ current_load }) => current_load,
    isThere: () => true,
    show: percent('mdi:cpu-64-bit'),
  },
  {
    key: 'temperature',
    name: 'temperature',
    value: ({ temperature }) => temperature,
    show: MEASURED.celsius,
  },
  {
    key: 'speed',
    name: 'speed',
    value: ({ current_speed }) => current_speed,
    show: { ...MEASURED.gigahertz, ...OFF },
  },
  { key: 'power', name: 'power', value: ({ power_watts }) => power_watts, show: MEASURED.watts },
  load(0, '1'),
  load(1, '5'),
  load(2, '15'),
  {
    key: 'pressure',
    name: 'pressure',
    value: ({ pressure }) => pressure?.some ?? null,
    show: { ...percent('mdi:gauge'), ...OFF },
  },
];

const MEMORY: readonly Row<MemoryDetail>[] = [
  {
    key: 'used_percent',
    name: 'used',
    value: ({ used_percent }) => used_percent,
    isThere: () => true,
    show: percent('mdi:memory'),
  },
  { key: 'used', name: 'in use', value: ({ used }) => used, per: GIB, show: MEASURED.gibibytes },
  { key: 'available', name: 'available', value: ({ free }) => free, per: GIB, show: MEASURED.gibibytes },
  {
    key: 'pressure',
    name: 'pressure',
    value: ({ pressure }) => pressure?.some ?? null,
    show: { ...percent('mdi:gauge'), ...OFF },
  },
];

const SWAP: readonly Row<NonNullable<MemoryDetail['swap']>>[] = [
  {
    key: 'used_percent',
    name: 'used',
    value: ({ used_percent }) => used_percent,
    show: { ...percent('mdi:swap-horizontal'), ...OFF },
  },
];

const NETWORK: readonly Row<Omit<NetworkDetail, 'interfaces'>>[] = networkRows(true);

/** Returns the entities of one interface, or of all together. */
export function networkRows(
  isShown: boolean,
): readonly Row<Pick<NetworkDetail, 'send_rate' | 'receive_rate' | 'bytesSent' | 'bytesRecv'>>[] {
  const rate = { ...MEASURED.megabits, ...(isShown ? {} : OFF) };
  const total = { ...GROWING, ...OFF };
  return [
    {
      key: 'receive',
      name: 'receive',
      value: ({ receive_rate }) => receive_rate,
      isThere: () => true,
      per: MEGABIT,
      show: rate,
    },
    {
      key: 'send',
      name: 'send',
      value: ({ send_rate }) => send_rate,
      isThere: () => true,
      per: MEGABIT,
      show: rate,
    },
    { key: 'received', name: 'received', value: ({ bytesRecv }) => bytesRecv, per: GIGABYTE, show: total },
    { key: 'sent', name: 'sent', value: ({ bytesSent }) => bytesSent, per: GIGABYTE, show: total },
  ];
}

const PROCESSES: readonly Row<ProcessSummary>[] = [
  { key: '', name: 'Processes', value: ({ count }) => count, show: plain('mdi:format-list-numbered') },
  {
    key: 'running',
    name: 'Running processes',
    value: ({ running }) => running,
    show: { ...plain('mdi:run'), ...OFF },
  },
  {
    key: 'top',
    name: 'Busiest process',
    value: ({ top_cpu }) => top_cpu?.[0]?.name ?? null,
    isThere: () => true,
    show: { platform: 'sensor', icon: 'mdi:chart-line', ...OFF },
  },
];

/** The key of the attributes of the busiest process. */
export const TOP_ATTRIBUTES = 'processes_top_attributes';

function topAttributes({ top_cpu }: ProcessSummary): Entity['value'] {
  const top = top_cpu?.[0];
  return top === undefined ? null : { pid: top.pid, cpu_percent: top.cpu, memory_mib: top.memory_mb };
}

const LIMITS: readonly Row<NonNullable<DetailExtras['limits']>>[] = [
  {
    key: 'memory_used',
    name: 'memory',
    value: ({ memory_used_bytes }) => memory_used_bytes,
    per: GIB,
    show: { ...MEASURED.gibibytes, ...OFF, ...DIAGNOSTIC },
  },
  {
    key: 'throttled_percent',
    name: 'throttled',
    value: ({ throttled_percent }) => throttled_percent,
    isThere: ({ cpus }) => cpus !== null,
    show: { ...percent('mdi:speedometer-slow'), ...OFF, ...DIAGNOSTIC },
  },
];

const ABOUT: readonly Row<Reading>[] = [
  {
    key: 'last_boot',
    name: 'Last boot',
    value: ({ bootedAt }) => new Date(bootedAt * 1000).toISOString(),
    show: { platform: 'sensor', device_class: 'timestamp', ...DIAGNOSTIC },
  },
  {
    key: 'address',
    name: 'Address',
    value: ({ system }) => system.network?.ipv4 ?? system.network?.ipv6 ?? null,
    show: { platform: 'sensor', icon: 'mdi:ip-network', ...DIAGNOSTIC },
  },
  {
    key: 'version',
    name: 'Version of hostwire',
    value: ({ version }) => version,
    show: { platform: 'sensor', icon: 'mdi:tag', ...DIAGNOSTIC },
  },
];

export function machineEntities(reading: Reading): readonly Entity[] {
  const { cpu, memory, network, extras } = reading.sample;
  const swap = memory?.detail?.swap;
  return [
    ...entitiesOf('cpu', only('CPU', cpu?.detail), CPU),
    ...entitiesOf('memory', only('Memory', memory?.detail), MEMORY),
    ...entitiesOf('swap', only('Swap', swap && swap.total > 0 ? swap : null), SWAP),
    ...entitiesOf('network', only('Network', network?.detail), NETWORK),
    ...entitiesOf('processes', only('', extras?.processes), PROCESSES),
    ...entitiesOf('limits', only('Service limit:', extras?.limits), LIMITS),
    ...entitiesOf('', only('', reading), ABOUT),
  ];
}

/** Returns the values of a message that belong to no entity. */
export function extraValues({ sample }: Reading): Readonly<Record<string, Entity['value']>> {
  const processes = sample.extras?.processes;
  return processes == null ? {} : { [TOP_ATTRIBUTES]: topAttributes(processes) };
}
