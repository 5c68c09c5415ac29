/**
 * What a sample looks like on the wire: the contract's keys, and what `detail` adds. Sizes are bytes, rates bytes a
 * second, temperatures °C, speeds GHz, shares percent. In detail null means that nobody could read it.
 */

import type { ProcessSummary } from './process.ts';

export interface CpuStats {
  readonly current_load: number;
  readonly current_temp: number;
  readonly current_speed: number;
}

export interface Pressure {
  readonly some: number;
  readonly full: number;
}

export interface CpuBreakdown {
  readonly user: number;
  readonly system: number;
  readonly nice: number;
  readonly iowait: number;
  readonly irq: number;
  readonly steal: number;
  readonly idle: number;
}

export interface CpuDetail {
  readonly current_load: number | null;
  readonly current_temp: number | null;
  readonly current_speed: number | null;
  readonly cores: readonly (number | null)[];
  readonly speeds: readonly (number | null)[];
  readonly load_average: readonly [number, number, number] | null;
  readonly breakdown: CpuBreakdown | null;
  readonly temperature: number | null;
  readonly power_watts: number | null;
  readonly pressure: Pressure | null;
}

export interface MemoryStats {
  readonly used: number;
  readonly free: number;
  readonly used_percent: number;
}

export interface SwapDetail {
  readonly total: number;
  readonly used: number;
  readonly free: number;
  readonly used_percent: number;
}

export interface MemoryDetail {
  readonly used: number | null;
  readonly free: number | null;
  readonly used_percent: number | null;
  readonly total: number | null;
  readonly cached: number | null;
  readonly buffers: number | null;
  readonly swap: SwapDetail | null;
  readonly pressure: Pressure | null;
}

export interface GpuStats {
  readonly current_load: number;
  readonly current_temp: number;
  /** MiB. */
  readonly current_memory: number;
}

export interface GpuDevice {
  readonly name: string;
  readonly vendor: string;
  readonly load: number | null;
  readonly temperature: number | null;
  /** MiB. */
  readonly memory_used: number | null;
  /** MiB. */
  readonly memory_total: number | null;
  readonly power_watts: number | null;
  readonly fan_percent: number | null;
  readonly clock_mhz: number | null;
  readonly asleep: boolean;
}

export interface GpuDetail {
  readonly current_load: number | null;
  readonly current_temp: number | null;
  readonly current_memory: number | null;
  readonly name: string;
  readonly vendor: string;
  readonly memory_total: number | null;
  readonly power_watts: number | null;
  readonly fan_percent: number | null;
  readonly clock_mhz: number | null;
  readonly asleep: boolean;
  readonly devices: readonly GpuDevice[];
}

export interface DiskStats {
  /** The mount point; `C:` on Windows. */
  readonly fs: string;
  readonly used: number;
  readonly available: number;
  readonly used_percent: number;
}

export interface DiskDetail {
  readonly fs: string;
  readonly used: number | null;
  readonly available: number | null;
  readonly used_percent: number | null;
  readonly device: string | null;
  readonly type: string | null;
  readonly size: number | null;
  readonly label: string | null;
  readonly read_only: boolean | null;
  readonly removable: boolean | null;
  readonly stale: boolean;
  readonly read_bytes: number | null;
  readonly write_bytes: number | null;
  readonly read_rate: number | null;
  readonly write_rate: number | null;
  readonly busy_percent: number | null;
}

export interface NetworkStats {
  readonly bytesSent: number;
  readonly bytesRecv: number;
}

export interface InterfaceDetail {
  readonly name: string;
  readonly kind: string;
  readonly up: boolean | null;
  readonly speed_mbps: number | null;
  readonly mac: string | null;
  readonly addresses: readonly string[];
  readonly bytesSent: number;
  readonly bytesRecv: number;
  readonly send_rate: number | null;
  readonly receive_rate: number | null;
  readonly errin: number | null;
  readonly errout: number | null;
  readonly dropin: number | null;
  readonly dropout: number | null;
  readonly signal_dbm: number | null;
}

export interface NetworkDetail {
  readonly bytesSent: number;
  readonly bytesRecv: number;
  readonly send_rate: number | null;
  readonly receive_rate: number | null;
  readonly packetsSent: number | null;
  readonly packetsRecv: number | null;
  readonly errin: number | null;
  readonly errout: number | null;
  readonly dropin: number | null;
  readonly dropout: number | null;
  readonly interfaces: readonly InterfaceDetail[];
}

export interface SensorDetail {
  /** The chip or drive, then what it measures there. No two sensors have the same. */
  readonly label: string;
  readonly kind: 'temperature' | 'fan' | 'voltage' | 'power';
  readonly value: number | null;
  readonly unit: '°C' | 'RPM' | 'V' | 'W';
}

export interface BatteryDetail {
  readonly name: string;
  readonly percent: number | null;
  readonly state: 'charging' | 'discharging' | 'full' | 'not_charging' | 'unknown';
  /** Into it or out of it, as the state says; never negative. */
  readonly power_watts: number | null;
  /** Until it is empty or full. */
  readonly seconds_left: number | null;
  /** What a full charge holds of what it held when new. */
  readonly health_percent: number | null;
}

/** What `detail` adds beside the sections. */
export interface TopDetail {
  readonly interval_seconds: number;
  readonly host: string;
  /** Absent while `features.enable_processes` is off; null until they have been read. */
  readonly processes?: ProcessSummary | null;
  readonly sensors: readonly SensorDetail[];
  readonly batteries: readonly BatteryDetail[];
}
