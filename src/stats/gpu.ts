/** The gpu section of a sample: the first device, with detail all of them; null without any. */
import type { GpuCounters } from '../host/host.ts';
import type { GpuDetail, GpuDevice, GpuStats } from '../wire/sample.ts';
import { oneDecimal } from './round.ts';

const MIB = 1024 * 1024;
const toMib = (bytes: number | null) => (bytes === null ? null : Math.round(bytes / MIB));
const rounded = (value: number | null) => (value === null ? null : oneDecimal(value));

export function deriveGpuStats(gpus: readonly GpuCounters[] | null): GpuStats | null {
  const first = gpus?.[0];
  if (first === undefined) return null;
  return {
    current_load: rounded(first.loadPercent) ?? 0,
    current_temp: rounded(first.temperatureCelsius) ?? 0,
    current_memory: toMib(first.memoryUsedBytes) ?? 0,
  };
}

function deriveDevice(gpu: GpuCounters): GpuDevice {
  return {
    name: gpu.name,
    vendor: gpu.vendor,
    load: rounded(gpu.loadPercent),
    temperature: rounded(gpu.temperatureCelsius),
    memory_used: toMib(gpu.memoryUsedBytes),
    memory_total: toMib(gpu.memoryTotalBytes),
    power_watts: rounded(gpu.powerWatts),
    fan_percent: rounded(gpu.fanPercent),
    clock_mhz: rounded(gpu.clockMhz),
    asleep: gpu.isAsleep,
  };
}

export function deriveGpuDetail(gpus: readonly GpuCounters[] | null): GpuDetail | null {
  const devices = (gpus ?? []).map(deriveDevice);
  const first = devices[0];
  if (first === undefined) return null;
  return {
    current_load: first.load,
    current_temp: first.temperature,
    current_memory: first.memory_used,
    name: first.name,
    vendor: first.vendor,
    memory_total: first.memory_total,
    power_watts: first.power_watts,
    fan_percent: first.fan_percent,
    clock_mhz: first.clock_mhz,
    asleep: first.asleep,
    devices,
  };
}
