/** Counters made of literals, for tests of the pure functions. */

import type { BatteryCounters } from '#src/host/details.js';
import type {
  Counters,
  CpuCounters,
  CpuTimes,
  DiskCounters,
  GpuCounters,
  InterfaceCounters,
  MemoryCounters,
} from '#src/host/host.js';

export const times = (part: Partial<CpuTimes> = {}): CpuTimes => ({
  user: 0,
  nice: 0,
  system: 0,
  idle: 0,
  iowait: 0,
  irq: 0,
  steal: 0,
  ...part,
});

export const cpu = (total: Partial<CpuTimes>, more: Partial<CpuCounters> = {}): CpuCounters => ({
  total: times(total),
  temperatureCelsius: null,
  speedHz: null,
  ...more,
});

export const memory = (more: Partial<MemoryCounters> = {}): MemoryCounters => ({
  totalBytes: 1000,
  availableBytes: 400,
  ...more,
});

export const disk = (mountPoint: string, more: Partial<DiskCounters> = {}): DiskCounters => ({
  mountPoint,
  usage: { totalBytes: 1000, freeBytes: 500, availableBytes: 450 },
  ...more,
});

export const link = (name: string, more: Partial<InterfaceCounters> = {}): InterfaceCounters => ({
  name,
  index: 2,
  kind: 'ethernet',
  hasDevice: true,
  masterIndex: 0,
  lowerIndex: 0,
  receivedBytes: 0,
  sentBytes: 0,
  ...more,
});

export const gpu = (more: Partial<GpuCounters> = {}): GpuCounters => ({
  name: 'Model',
  vendor: 'Maker',
  loadPercent: null,
  temperatureCelsius: null,
  memoryUsedBytes: null,
  memoryTotalBytes: null,
  powerWatts: null,
  fanPercent: null,
  clockMhz: null,
  isAsleep: false,
  ...more,
});

/** At `seconds` since boot, `slept` of them in suspend; the wall clock is a billion seconds ahead. */
export const at = (seconds: number, more: Partial<Counters> = {}, slept = 0): Counters => ({
  takenAtNs: Math.round((seconds - slept) * 1e9),
  sinceBootNs: Math.round(seconds * 1e9),
  unixMs: 1e12 + seconds * 1000,
  ...more,
});

/** Nothing is known of it but its state. */
export const BATTERY: BatteryCounters = {
  name: 'BAT0',
  state: 'discharging',
  percent: null,
  energyWh: null,
  energyFullWh: null,
  energyDesignWh: null,
  chargeAh: null,
  chargeFullAh: null,
  chargeDesignAh: null,
  voltageVolts: null,
  powerWatts: null,
  currentAmps: null,
  secondsToEmpty: null,
  secondsToFull: null,
  failure: null,
};
