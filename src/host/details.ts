/** The details beside the sections in a reading, as the addon returns them (native/napi/details.cc). */

export type SensorKind = 'temperature' | 'fan' | 'voltage' | 'power';

export interface SensorCounters {
  /** The chip's own name: coretemp, nvme, drivetemp. */
  readonly driver: string;
  /** Unique per chip. */
  readonly chip: string;
  /** Unique per sensor; begins with the chip. */
  readonly label: string;
  /**
   * The system's own names: the device "platform/coretemp.0" (with the driver if several chips belong to one device:
   * "platform/asus-nb-wmi/asus"; unique per chip), the value's file "temp1_input", its label "Core 0".
   */
  readonly device?: string;
  readonly file?: string;
  readonly ownLabel?: string;
  readonly kind: SensorKind;
  /** °C, RPM, V or W. */
  readonly value: number | null;
  /** Why the value is null, if reading it failed. */
  readonly failure: string | null;
}

export type BatteryState = 'charging' | 'discharging' | 'full' | 'not_charging' | 'unknown';

/** A battery reports energy or charge, hardly ever both. */
export interface BatteryCounters {
  readonly name: string;
  readonly state: BatteryState | null;
  /** As the battery's own electronics report it. */
  readonly percent: number | null;
  readonly energyWh: number | null;
  readonly energyFullWh: number | null;
  readonly energyDesignWh: number | null;
  readonly chargeAh: number | null;
  readonly chargeFullAh: number | null;
  readonly chargeDesignAh: number | null;
  readonly voltageVolts: number | null;
  /** Into or out of the battery; never negative, like the current. */
  readonly powerWatts: number | null;
  readonly currentAmps: number | null;
  readonly secondsToEmpty: number | null;
  readonly secondsToFull: number | null;
  /** Why nothing but the name is known, if reading it failed. */
  readonly failure: string | null;
}

/** A drive's report about itself (SMART); null if it does not report it, or vendors differ in the form. */
export interface DriveHealth {
  /** The drive's own verdict: false when it predicts its failure. */
  readonly isPassing: boolean | null;
  /** Used share of its rated endurance; may exceed 100. */
  readonly percentageUsed: number | null;
  readonly powerOnHours: number | null;
  readonly temperatureCelsius: number | null;
  /** Unrecoverable reads and writes, over its life. */
  readonly mediaErrors: number | null;
}

export interface DriveCounters {
  /** nvme0n1, sda, PhysicalDrive0. */
  readonly name: string;
  readonly model: string | null;
  readonly kind: 'nvme' | 'ata' | 'scsi' | 'other';
  readonly health: DriveHealth | null;
  /** Why `health` is null. */
  readonly failure: string | null;
}

/** Counters of the scheduler: periods count only while the group has something to run. */
export interface CpuThrottling {
  /** The group that these counters belong to. */
  readonly group: string;
  readonly periods: number;
  /** Periods in which the quota was used up. */
  readonly throttledPeriods: number;
}

/** Limits of the service on this machine; null without a limit. */
export interface LimitCounters {
  readonly memoryBytes: number | null;
  /** Used by all processes that share the limit. */
  readonly memoryUsedBytes: number | null;
  readonly cpus: number | null;
  readonly throttling: CpuThrottling | null;
  /** Why a part of it cannot be read. */
  readonly failure: string | null;
}

/** One key per detail, the same as in the payload. Read with detail only, regardless of the sections. */
export interface DetailCounters {
  readonly sensors?: readonly SensorCounters[] | null;
  /** The batteries that power this machine. */
  readonly batteries?: readonly BatteryCounters[] | null;
  readonly drives?: readonly DriveCounters[] | null;
  readonly limits?: LimitCounters | null;
}
