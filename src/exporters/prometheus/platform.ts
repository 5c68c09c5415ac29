/** The families of a platform whose kernel has no texts of counters, from what a reading of it has. */
import type { Counters, CpuTimes, InterfaceCounters } from '../../host/host.ts';
import { type Family, family, type Labels, type MetricSample, single } from './exposition.ts';

/** Windows counts in units of 100 ns. */
const TICKS_PER_SECOND = 1e7;
const MODES = ['user', 'system', 'idle', 'irq'] as const satisfies readonly (keyof CpuTimes)[];

const NETWORK: readonly (readonly [name: string, of: keyof InterfaceCounters])[] = [
  ['receive_bytes', 'receivedBytes'],
  ['receive_packets', 'receivedPackets'],
  ['receive_errs', 'receiveErrors'],
  ['receive_drop', 'receiveDrops'],
  ['transmit_bytes', 'sentBytes'],
  ['transmit_packets', 'sentPackets'],
  ['transmit_errs', 'sendErrors'],
  ['transmit_drop', 'sendDrops'],
];

const memory = (field: string, value: MetricSample['value']): Family =>
  single(`node_memory_${field}`, `Memory information field ${field}.`, value);

const numberOf = (value: InterfaceCounters[keyof InterfaceCounters]) =>
  typeof value === 'number' ? value : undefined;

/** `counters` with all sections and detail; `names`: those that `uname` has there. */
export function platformFamilies(counters: Counters, names: Labels): readonly Family[] {
  const { cpu, memory: bytes, network, unixMs, sinceBootNs } = counters;
  return [
    single('node_time_seconds', 'System time in seconds since epoch (1970).', unixMs / 1000),
    // Whole seconds, as in Linux: the clocks are not read at the same moment.
    single(
      'node_boot_time_seconds',
      'Node boot time, in unixtime.',
      Math.round(unixMs / 1000 - sinceBootNs / 1e9),
    ),
    family(
      'node_cpu_seconds_total',
      'Seconds the CPUs spent in each mode.',
      (cpu?.cores ?? []).flatMap((core) =>
        MODES.map((mode) => ({
          labels: { cpu: String(core.index), mode },
          value: core[mode] / TICKS_PER_SECOND,
        })),
      ),
    ),
    memory('MemTotal_bytes', bytes?.totalBytes),
    memory('MemAvailable_bytes', bytes?.availableBytes),
    memory('Cached_bytes', bytes?.cachedBytes),
    memory('SwapTotal_bytes', bytes?.swapTotalBytes),
    memory('SwapFree_bytes', bytes?.swapFreeBytes),
    ...NETWORK.map(([name, of]) =>
      family(
        `node_network_${name}_total`,
        `Network device statistic ${name}.`,
        (network ?? []).map((link) => ({ labels: { device: link.name }, value: numberOf(link[of]) })),
      ),
    ),
    family('node_uname_info', 'Labeled system information as provided by the uname system call.', [
      { labels: { domainname: '(none)', ...names }, value: 1 },
    ]),
  ];
}
