/** The entities of which a machine has one each, and the parts of a sample that all entities are made of. */
import type { SystemInfo } from '../../../host/host.ts';
import type { Sample } from '../../../stats/sample.ts';
import type { ProcessSummary } from '../../../wire/process.ts';
import type { CpuDetail, MemoryDetail, NetworkDetail } from '../../../wire/sample.ts';
import type { DetailExtras } from '../../../wire/usage.ts';
import {
  ALWAYS,
  DIAGNOSTIC,
  type Entity,
  entitiesOf,
  GIB,
  GIGABYTE,
  GROWING,
  MEASURED,
  MEGABIT,
  OFF,
  type Options,
  only,
  percent,
  plain,
  type Row,
  row,
} from './entity.ts';
import type { Problems } from './problems.ts';

/** The readings from which a message is made. */
export interface Reading {
  /** With detail, all sections and all details. */
  readonly sample: Sample;
  readonly system: SystemInfo;
  /** The version of hostwire. */
  readonly version: string;
  /** Unix seconds; see `settleBootTime`. */
  readonly bootedAt: number;
  readonly problems?: Problems;
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

const load = (at: 0 | 1 | 2, minutes: string): Row<CpuDetail> =>
  row(
    `load_${minutes}`,
    ({ load_average }) => load_average?.[at] ?? null,
    { ...plain('mdi:gauge', 2), ...OFF },
    {
      name: `load ${minutes} min`,
    },
  );

const pressure = row<Pick<CpuDetail, 'pressure'>>('pressure', ({ pressure: known }) => known?.some ?? null, {
  ...percent('mdi:gauge'),
  ...OFF,
});

const CPU: readonly Row<CpuDetail>[] = [
  row('load', ({ current_load }) => current_load, percent('mdi:cpu-64-bit'), ALWAYS),
  row('temperature', ({ temperature }) => temperature, MEASURED.celsius),
  row('speed', ({ current_speed }) => current_speed, { ...MEASURED.gigahertz, ...OFF }),
  row('power', ({ power_watts }) => power_watts, MEASURED.watts),
  load(0, '1'),
  load(1, '5'),
  load(2, '15'),
  pressure,
];

const MEMORY: readonly Row<MemoryDetail>[] = [
  row('used_percent', ({ used_percent }) => used_percent, percent('mdi:memory'), { ...ALWAYS, name: 'used' }),
  row('used', ({ used }) => used, MEASURED.gibibytes, { name: 'in use', per: GIB }),
  row('available', ({ free }) => free, MEASURED.gibibytes, { per: GIB }),
  pressure,
];

const SWAP: readonly Row<NonNullable<MemoryDetail['swap']>>[] = [
  row(
    'used_percent',
    ({ used_percent }) => used_percent,
    { ...percent('mdi:swap-horizontal'), ...OFF },
    { name: 'used' },
  ),
];

/** Returns the entities of one interface, or of all together. */
export function networkRows(
  isShown: boolean,
): readonly Row<Pick<NetworkDetail, 'send_rate' | 'receive_rate' | 'bytesSent' | 'bytesRecv'>>[] {
  const rate = { ...MEASURED.megabits, ...(isShown ? {} : OFF) };
  const total = { ...GROWING, ...OFF };
  return [
    row('receive', ({ receive_rate }) => receive_rate, rate, { ...ALWAYS, per: MEGABIT }),
    row('send', ({ send_rate }) => send_rate, rate, { ...ALWAYS, per: MEGABIT }),
    row('received', ({ bytesRecv }) => bytesRecv, total, { per: GIGABYTE }),
    row('sent', ({ bytesSent }) => bytesSent, total, { per: GIGABYTE }),
  ];
}

const PROCESSES: readonly Row<ProcessSummary>[] = [
  row('', ({ count }) => count, plain('mdi:format-list-numbered'), { name: 'Processes' }),
  row('running', ({ running }) => running, { ...plain('mdi:run'), ...OFF }, { name: 'Running processes' }),
  row(
    'top',
    ({ top_cpu }) => top_cpu?.[0]?.name ?? null,
    { platform: 'sensor', icon: 'mdi:chart-line', ...OFF },
    { ...ALWAYS, name: 'Busiest process' },
  ),
];

/** The key of the attributes of the busiest process. */
export const TOP_ATTRIBUTES = 'processes_top_attributes';

function topAttributes({ top_cpu }: ProcessSummary): Entity['value'] {
  const top = top_cpu?.[0];
  return top === undefined ? null : { pid: top.pid, cpu_percent: top.cpu, memory_mib: top.memory_mb };
}

const LIMITS: readonly Row<NonNullable<DetailExtras['limits']>>[] = [
  row(
    'memory_used',
    ({ memory_used_bytes }) => memory_used_bytes,
    { ...MEASURED.gibibytes, ...OFF, ...DIAGNOSTIC },
    { name: 'memory', per: GIB },
  ),
  row(
    'throttled_percent',
    ({ throttled_percent }) => throttled_percent,
    { ...percent('mdi:speedometer-slow'), ...OFF, ...DIAGNOSTIC },
    { name: 'throttled', isThere: ({ cpus }) => cpus !== null },
  ),
];

const about = (icon: string): Options => ({ platform: 'sensor', icon, ...DIAGNOSTIC });

const ABOUT: readonly Row<Reading>[] = [
  row(
    'last_boot',
    ({ bootedAt }) => new Date(bootedAt * 1000).toISOString(),
    { platform: 'sensor', device_class: 'timestamp', ...DIAGNOSTIC },
    { name: 'Last boot' },
  ),
  row(
    'address',
    ({ system }) => system.network?.ipv4 ?? system.network?.ipv6 ?? null,
    about('mdi:ip-network'),
    { name: 'Address' },
  ),
  row('version', ({ version }) => version, about('mdi:tag'), { name: 'Version of hostwire' }),
];

export function machineEntities(reading: Reading): readonly Entity[] {
  const { cpu, memory, network, extras } = reading.sample;
  const swap = memory?.detail?.swap;
  return [
    ...entitiesOf('cpu', only('CPU', cpu?.detail), CPU),
    ...entitiesOf('memory', only('Memory', memory?.detail), MEMORY),
    ...entitiesOf('swap', only('Swap', swap && swap.total > 0 ? swap : null), SWAP),
    ...entitiesOf('network', only('Network', network?.detail), networkRows(true)),
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
