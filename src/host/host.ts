/** The machine as the service sees it: the counters' types and the interface that returns them. */
import type { DetailCounters } from './details.ts';
import type { DiscoveryHost } from './discovery.ts';
import type { ListenerOptions } from './listener.ts';
import type { MediaHost } from './media.ts';
import type { PowerHost } from './power.ts';
import type { ProcessHost } from './processes.ts';
import type { StreamHost } from './streams.ts';
import type { WakeHost } from './wake.ts';

/** Time since boot, in ticks of any constant length. Guest time is included in user and nice; softirq in irq. */
export interface CpuTimes {
  readonly user: number;
  readonly nice: number;
  readonly system: number;
  readonly idle: number;
  readonly iowait: number;
  readonly irq: number;
  readonly steal: number;
}

export interface CoreTimes extends CpuTimes {
  /** The system's number of the logical processor; it has gaps while processors are offline. */
  readonly index: number;
}

/** Share of the last 10 s, in percent, in which some or all tasks waited for a resource. */
export interface Pressure {
  readonly some: number;
  readonly full: number;
}

export interface CpuCounters {
  readonly total: CpuTimes;
  readonly temperatureCelsius: number | null;
  readonly speedHz: number | null;
  /** The keys below are present with detail only. */
  readonly cores?: readonly CoreTimes[];
  /** In the order of `cores`; empty where no core's speed is readable. */
  readonly coreSpeedsHz?: readonly (number | null)[];
  readonly loadAverage?: readonly [number, number, number] | null;
  readonly pressure?: Pressure | null;
  readonly energy?: EnergyCounters | null;
}

/** Energy that the processor's packages have used since an unknown moment: top-level zones only. */
export interface EnergyCounters {
  /** When a prober took this reading, on the clock of Counters.takenAtNs. */
  readonly takenAtNs: number;
  readonly zones: readonly EnergyZone[];
  /** Why some of them cannot be read. */
  readonly failure: string | null;
}

export interface EnergyZone {
  readonly name: string;
  readonly microjoules: number;
  /** The counter wraps to 0 above this. */
  readonly rangeMicrojoules: number;
}

export interface MemoryCounters {
  readonly totalBytes: number;
  readonly availableBytes: number;
  /** The keys below are present with detail only. */
  readonly cachedBytes?: number | null;
  readonly buffersBytes?: number | null;
  readonly swapTotalBytes?: number | null;
  readonly swapFreeBytes?: number | null;
  readonly pressure?: Pressure | null;
}

export interface DiskUsage {
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly availableBytes: number;
}

export interface DiskIo {
  readonly readBytes: number;
  readonly writeBytes: number;
  readonly busyMs: number;
}

export interface DiskCounters {
  readonly mountPoint: string;
  /** From its prober's last answer; null until the first one. */
  readonly usage: DiskUsage | null;
  /** The keys below are present with detail only. */
  readonly device?: string;
  readonly type?: string;
  readonly label?: string | null;
  readonly isReadOnly?: boolean | null;
  readonly isRemovable?: boolean | null;
  readonly isStale?: boolean;
  readonly io?: DiskIo | null;
  /** The devices whose counters `io` sums: no rate is derived between readings of other devices. */
  readonly ioDevices?: string;
  /** Inodes; 0 if the filesystem has no fixed number of them, null if the platform reports none. */
  readonly files?: number | null;
  readonly filesFree?: number | null;
}

export type InterfaceKind =
  | 'ethernet'
  | 'wifi'
  | 'bond'
  | 'bridge'
  | 'vlan'
  | 'tunnel'
  | 'loopback'
  | 'other';

export interface InterfaceCounters {
  readonly name: string;
  /** The system's number: an interface that is created again under its old name has a new one. 0: unknown. */
  readonly index: number;
  readonly kind: InterfaceKind;
  /** Hardware, or paravirtual hardware, of its own, whose bytes no other interface counts. */
  readonly hasDevice: boolean;
  /** The index of the bond, bridge or other interface of which it is a member; 0: none. */
  readonly masterIndex: number;
  /** The index of the interface below it, as of a VLAN; 0: none in this network namespace. */
  readonly lowerIndex: number;
  /** Related to an interface that is not below it: the other end of a veth pair. */
  readonly hasPeer?: boolean;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** The keys below are present with detail only. */
  readonly receivedPackets?: number;
  readonly sentPackets?: number;
  readonly receiveErrors?: number;
  readonly sendErrors?: number;
  readonly receiveDrops?: number;
  readonly sendDrops?: number;
  readonly isUp?: boolean | null;
  readonly speedMbps?: number | null;
  readonly mac?: string | null;
  readonly addresses?: readonly string[];
  readonly signalDbm?: number | null;
}

export interface GpuCounters {
  readonly name: string;
  readonly vendor: string;
  readonly loadPercent: number | null;
  readonly temperatureCelsius: number | null;
  readonly memoryUsedBytes: number | null;
  readonly memoryTotalBytes: number | null;
  readonly powerWatts: number | null;
  readonly fanPercent: number | null;
  readonly clockMhz: number | null;
  readonly isAsleep: boolean;
}

/**
 * One raw reading of the machine. A section or detail that was not requested is absent; one that could not be read is
 * null, and its reason is in `failures` under the same key.
 */
export interface Counters extends DetailCounters {
  /** Monotonic, does not count suspend: the base of every rate. */
  readonly takenAtNs: number;
  /** Since boot, counts suspend. */
  readonly sinceBootNs: number;
  /** Wall clock. */
  readonly unixMs: number;
  /** Since the container was started, if it has an uptime of its own. Absent: as `sinceBootNs`. */
  readonly uptimeNs?: number | undefined;
  /** Bound of the error of the wall clock; 16 or more: nothing synchronizes it. Null, absent: unknown. */
  readonly clockErrorSeconds?: number | null;
  readonly cpu?: CpuCounters | null;
  readonly memory?: MemoryCounters | null;
  /** If `failures` has a reason beside a list, some devices are missing from it. */
  readonly gpu?: readonly GpuCounters[] | null;
  readonly disks?: readonly DiskCounters[] | null;
  readonly network?: readonly InterfaceCounters[] | null;
  /**
   * When the interfaces were read, on the clock of `takenAtNs`, if a prober read them: a reading that precedes its next
   * answer has the last one again. Absent: with the rest.
   */
  readonly networkTakenAtNs?: number | undefined;
  /** A question that this or an earlier reading has put to a prober was never answered yet. Absent: none. */
  readonly awaitsAnswers?: boolean | undefined;
  readonly failures?: Readonly<Record<string, string>>;
}

export interface SystemInfo {
  readonly hostname: string;
  readonly os: {
    readonly name: string;
    readonly version: string;
    readonly build: string;
    readonly arch: string;
  };
  readonly cpu: {
    readonly manufacturer: string;
    readonly brand: string;
    readonly cores: number;
    readonly physicalCores: number;
    readonly baseSpeedHz: number | null;
  };
  readonly memoryTotalBytes: number;
  readonly memorySlots: number | null;
  /** Maker and product, as the firmware names them. */
  readonly model: string | null;
  readonly network: {
    readonly name: string;
    readonly mac: string | null;
    readonly ipv4: string | null;
    readonly ipv6: string | null;
  } | null;
}

/** The connections of one client address: IPv4, or IPv6 without a zone. */
export interface ClientConnections {
  readonly address: string;
  readonly connections: number;
}

/** The unit of filtering, in the contract's order. */
export const SECTIONS = ['cpu', 'memory', 'gpu', 'disks', 'network'] as const;
export type Section = (typeof SECTIONS)[number];

/** One bit per section, so that a set of them is a number: 1 << its place in SECTIONS, as in the addon. */
export const SECTION_BITS: Readonly<Record<Section, number>> = {
  cpu: 1,
  memory: 2,
  gpu: 4,
  disks: 8,
  network: 16,
};
export const ALL_SECTIONS = 31;

/** The machine. Implemented by the addon, and by fixtures in tests. */
export interface Host extends WakeHost {
  /**
   * Takes one synchronous reading of the sections in the set `sections` (see SECTION_BITS). `nextInMs` is the expected
   * time of the next reading: probers are asked shortly before, so that their answers are fresh then. `details`: the
   * set of details to read with detail, 1 << its place in the addon's table each; all of them by default.
   */
  readCounters(sections: number, withDetail: boolean, nextInMs: number, details?: number): Counters;
  readSystem(): Promise<SystemInfo>;
  /**
   * Returns the kernel's own counters in the exposition format of Prometheus, read by a thread of its own. More than
   * one at a time is useless. Rejects with the code ENOTSUP if the platform does not support it.
   */
  readMetrics(): Promise<Buffer>;
  /** Returns milliseconds since boot, suspended time included; the clock of `Counters.sinceBootNs`. */
  sinceBootMs(): number;
  /** Applies `options` to this process's listening sockets on `port`; returns how many were tuned. */
  tuneListener(port: number, options: ListenerOptions): number;
  /** Returns how many files and sockets this process may have open; Infinity if unlimited. */
  descriptorLimit(): number;
  /** Returns how many of them are open; undefined if the system does not report it. Never waits. */
  openDescriptors(): number | undefined;
  /** Returns freed memory to the system, off the main thread; does nothing if the allocator does so itself. */
  trimHeap(): Promise<void>;
  /** Returns the connections on `port` by client; counted off the main thread. Rejects where the system does not tell. */
  readConnections(port: number): Promise<readonly ClientConnections[]>;
  /** Absent on platforms where the addon cannot own a connection. */
  readonly streams?: StreamHost;
  /** Each of these is absent on platforms that do not support it. */
  readonly discovery?: DiscoveryHost;
  readonly media?: MediaHost;
  readonly power?: PowerHost;
  readonly processes?: ProcessHost;
}
