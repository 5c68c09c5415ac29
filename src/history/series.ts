/** Converts a sample to points, one per series. Pure. */
import type { Counters, InterfaceCounters } from '../host/host.ts';
import { readingOf, secondsBetween } from '../stats/baseline.ts';
import type { SeriesValue } from '../stats/detail-row.ts';
import { detailSeries } from '../stats/details.ts';
import { keyOf } from '../stats/network-totals.ts';
import type { Sample } from '../stats/sample.ts';
import type { SeriesPoint } from './history.ts';
import { dotted, nameOf } from './names.ts';

type Points = SeriesPoint[];

const MIB = 2 ** 20;
const toMib = (bytes: number | null) => (bytes === null ? null : bytes / MIB);

/** Units of details as they are written here. Bytes are kept in MiB, because 24 bits hold too few of them. */
const UNITS: Readonly<Record<SeriesValue['unit'], string>> = {
  bytes: 'MiB',
  celsius: '°C',
  count: '',
  hours: 'h',
  percent: '%',
  rpm: 'RPM',
  seconds: 's',
  volts: 'V',
  watts: 'W',
};

/** Without detail an unknown temperature, speed or number of a GPU is 0. */
const orUnknown = (value: number) => (value === 0 ? null : value);

function addCpu({ cpu, counters }: Sample, points: Points): void {
  if (cpu === undefined) return;
  const { stats, detail } = cpu;
  const isRead = counters.cpu != null;
  const [load, temperature, speed] =
    detail === undefined
      ? [isRead ? stats.current_load : null, orUnknown(stats.current_temp), orUnknown(stats.current_speed)]
      : [detail.current_load, detail.current_temp, detail.current_speed];
  points.push(
    { name: 'cpu.load', unit: '%', value: load },
    { name: 'cpu.temperature', unit: '°C', value: temperature },
    { name: 'cpu.speed', unit: 'GHz', value: speed },
  );
  if (detail === undefined) return;
  points.push(
    { name: 'cpu.power', unit: 'W', value: detail.power_watts },
    { name: 'cpu.pressure', unit: '%', value: detail.pressure?.some ?? null },
    { name: 'cpu.load_average', unit: '', value: detail.load_average?.[0] ?? null },
  );
  const indexes = counters.cpu?.cores;
  for (const [at, value] of detail.cores.entries())
    points.push({ name: nameOf('cpu.core', indexes?.[at]?.index ?? at), unit: '%', value });
}

function addMemory({ memory, counters }: Sample, points: Points): void {
  if (memory === undefined) return;
  const { stats, detail } = memory;
  const isRead = counters.memory != null;
  points.push(
    { name: 'memory.used_percent', unit: '%', value: isRead ? stats.used_percent : null },
    { name: 'memory.used', unit: 'MiB', value: isRead ? stats.used / MIB : null },
  );
  if (detail === undefined) return;
  points.push(
    { name: 'memory.swap_percent', unit: '%', value: detail.swap?.used_percent ?? null },
    { name: 'memory.pressure', unit: '%', value: detail.pressure?.some ?? null },
  );
}

function addGpus({ gpu }: Sample, points: Points): void {
  const detail = gpu?.detail;
  const stats = gpu?.stats;
  if (detail)
    for (const [at, device] of detail.devices.entries())
      points.push(
        { name: nameOf('gpu.load', at), unit: '%', value: device.load },
        { name: nameOf('gpu.temperature', at), unit: '°C', value: device.temperature },
        { name: nameOf('gpu.memory', at), unit: 'MiB', value: device.memory_used },
        { name: nameOf('gpu.power', at), unit: 'W', value: device.power_watts },
      );
  else if (stats)
    points.push(
      { name: 'gpu.load/0', unit: '%', value: orUnknown(stats.current_load) },
      { name: 'gpu.temperature/0', unit: '°C', value: orUnknown(stats.current_temp) },
      { name: 'gpu.memory/0', unit: 'MiB', value: orUnknown(stats.current_memory) },
    );
}

function addDisks({ disks }: Sample, points: Points): void {
  if (disks === undefined) return;
  if (disks.detail === undefined) {
    for (const { fs, used_percent } of disks.stats)
      points.push({ name: nameOf('disk.used_percent', fs), unit: '%', value: used_percent });
    return;
  }
  for (const { fs, used_percent, read_rate, write_rate, busy_percent } of disks.detail)
    points.push(
      { name: nameOf('disk.used_percent', fs), unit: '%', value: used_percent },
      { name: nameOf('disk.read', fs), unit: 'bytes/s', value: read_rate },
      { name: nameOf('disk.write', fs), unit: 'bytes/s', value: write_rate },
      { name: nameOf('disk.busy', fs), unit: '%', value: busy_percent },
    );
}

/** Returns the seconds awake between the readings of the interfaces; 0 if no rate can be derived. */
const networkSeconds = (before: Counters, after: Counters): number =>
  secondsBetween(readingOf(before, undefined, before.networkTakenAtNs), after, after.networkTakenAtNs);

const rateOf = (before: number | undefined, after: number, seconds: number) =>
  before === undefined || after < before || seconds <= 0 ? null : (after - before) / seconds;

/**
 * Adds rates of the interfaces, from the counters: readings with and without detail have these, and the sampler may
 * have compared the detail of a reading with one that is not recorded.
 */
function addNetwork({ network, counters }: Sample, before: Sample | undefined, points: Points): void {
  const links = counters.network;
  if (network === undefined || !links) return;
  const seconds = before === undefined ? 0 : networkSeconds(before.counters, counters);
  const earlier = before?.network?.stats;
  const { bytesRecv, bytesSent } = network.stats;
  points.push(
    { name: 'network.receive', unit: 'bytes/s', value: rateOf(earlier?.bytesRecv, bytesRecv, seconds) },
    { name: 'network.send', unit: 'bytes/s', value: rateOf(earlier?.bytesSent, bytesSent, seconds) },
  );
  if (seconds === 0) return;
  const byKey = new Map(before?.counters.network?.map((link) => [keyOf(link), link]));
  for (const link of links) addInterface(link, byKey.get(keyOf(link)), seconds, points);
}

function addInterface(
  link: InterfaceCounters,
  before: InterfaceCounters | undefined,
  seconds: number,
  points: Points,
): void {
  const { name, receivedBytes, sentBytes } = link;
  points.push(
    {
      name: nameOf('network.receive', name),
      unit: 'bytes/s',
      value: rateOf(before?.receivedBytes, receivedBytes, seconds),
    },
    {
      name: nameOf('network.send', name),
      unit: 'bytes/s',
      value: rateOf(before?.sentBytes, sentBytes, seconds),
    },
  );
}

function addClock({ counters: { clockErrorSeconds: value } }: Sample, points: Points): void {
  if (value !== undefined) points.push({ name: 'clock.error', unit: 's', value });
}

function addDetails({ extras }: Sample, points: Points): void {
  if (extras === undefined) return;
  for (const { name, unit, of, value } of detailSeries(extras)) {
    const base = dotted(name);
    points.push({
      name: of === undefined ? base : nameOf(base, of),
      unit: UNITS[unit],
      value: unit === 'bytes' ? toMib(value) : value,
    });
  }
}

/** `network`: the last sample before this one that had its network section, if the two can be compared. */
export function pointsOf(sample: Sample, network: Sample | undefined): readonly SeriesPoint[] {
  const points: Points = [];
  addCpu(sample, points);
  addMemory(sample, points);
  addGpus(sample, points);
  addDisks(sample, points);
  addDetails(sample, points);
  addClock(sample, points);
  addNetwork(sample, network, points);
  return points;
}
