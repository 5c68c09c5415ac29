/** The cpu section of a sample: shares of the time between two readings. */
import type { CoreTimes, CpuCounters, CpuTimes, EnergyCounters } from '../host/host.ts';
import type { CpuBreakdown, CpuDetail, CpuStats } from '../wire/sample.ts';
import { deriveWatts } from './energy.ts';
import { growth, oneDecimal, percentOf } from './round.ts';

/** Maximum ticks. The kernel counted larger columns below 0; JavaScript's numbers cannot show how they grow. */
const MAX_TICKS = 2 ** 60;
/**
 * Maximum growth in ticks, which may be as short as 100 ns: no interval is longer than this and than all the
 * time before it. Some kernels' steal, counted in nanoseconds, fell below 0: it jumps by 2^64 ns, which are
 * 1.8e12 ticks.
 */
const MAX_GROWTH = 1e12;

/**
 * Counters may step back (iowait, a processor taken offline): each is clamped separately. undefined if one of them
 * jumped: the shares of such an interval are meaningless.
 */
function spentBetween(before: CpuTimes, after: CpuTimes): CpuTimes | undefined {
  const spent = {
    user: growth(before.user, after.user),
    nice: growth(before.nice, after.nice),
    system: growth(before.system, after.system),
    idle: growth(before.idle, after.idle),
    iowait: growth(before.iowait, after.iowait),
    irq: growth(before.irq, after.irq),
    steal: growth(before.steal, after.steal),
  };
  const isReal = totalOf(spent) <= Math.max(MAX_GROWTH, totalOf(before)) && totalOf(after) <= MAX_TICKS;
  return isReal ? spent : undefined;
}

function totalOf(times: CpuTimes): number {
  return times.user + times.nice + times.system + times.idle + times.iowait + times.irq + times.steal;
}

function loadBetween(before: CpuTimes | undefined, after: CpuTimes): number | null {
  const spent = before && spentBetween(before, after);
  if (spent === undefined) return null;
  const total = totalOf(spent);
  return percentOf(total - spent.idle - spent.iowait, total);
}

function breakdownBetween(before: CpuTimes | undefined, after: CpuTimes): CpuBreakdown | null {
  const spent = before && spentBetween(before, after);
  if (spent === undefined) return null;
  const total = totalOf(spent);
  const share = (part: number) => percentOf(part, total) ?? 0;
  if (total <= 0) return null;
  return {
    user: share(spent.user),
    system: share(spent.system),
    nice: share(spent.nice),
    iowait: share(spent.iowait),
    irq: share(spent.irq),
    steal: share(spent.steal),
    idle: share(spent.idle),
  };
}

const toGhz = (hertz: number) => Math.round(hertz / 1e6) / 1e3;

/**
 * Unknown values are 0, because the contract requires a number; so are negative ones, because numbers of a default
 * payload are never negative.
 */
export function deriveCpuStats(before: CpuCounters | undefined, after: CpuCounters | null): CpuStats {
  return {
    current_load: (after && loadBetween(before?.total, after.total)) ?? 0,
    current_temp: after?.temperatureCelsius == null ? 0 : Math.max(0, oneDecimal(after.temperatureCelsius)),
    current_speed: after?.speedHz == null ? 0 : toGhz(after.speedHz),
  };
}

const UNKNOWN: CpuDetail = {
  current_load: null,
  current_temp: null,
  current_speed: null,
  cores: [],
  speeds: [],
  load_average: null,
  breakdown: null,
  temperature: null,
  power_watts: null,
  pressure: null,
};

/** `cores` and `energy` are from the last reading with detail, which may be older than `before`. */
export function deriveCpuDetail(
  before: CpuCounters | undefined,
  cores: readonly CoreTimes[] | undefined,
  after: CpuCounters | null,
  energy?: EnergyCounters | undefined,
): CpuDetail {
  if (after === null) return UNKNOWN;
  const coresBefore = new Map(cores?.map((core) => [core.index, core]));
  const temperature = after.temperatureCelsius === null ? null : oneDecimal(after.temperatureCelsius);
  return {
    current_load: loadBetween(before?.total, after.total),
    current_temp: temperature,
    current_speed: after.speedHz === null ? null : toGhz(after.speedHz),
    cores: (after.cores ?? []).map((core) => loadBetween(coresBefore.get(core.index), core)),
    speeds: (after.coreSpeedsHz ?? []).map((speed) => (speed === null ? null : toGhz(speed))),
    load_average: after.loadAverage ?? null,
    breakdown: breakdownBetween(before?.total, after.total),
    temperature,
    power_watts: deriveWatts(energy, after.energy),
    pressure: after.pressure ?? null,
  };
}
