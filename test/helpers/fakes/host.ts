/** A machine of literals: every section is readable and complete, and readings are counted. */
import '../service/dead-buses.ts';
import os from 'node:os';
import type { BatteryCounters, DetailCounters, DriveCounters } from '#src/host/details.js';
import type { Counters, Host, InterfaceCounters, SystemInfo } from '#src/host/host.js';
import { SECTION_BITS, SECTIONS } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import type { StreamHost, StreamWriter } from '#src/host/streams.js';
import { settle } from './clock.ts';

const GIB = 1024 ** 3;

type Section = Pick<Counters, 'cpu' | 'memory' | 'gpu' | 'disks' | 'network'>;

const TIMES = { user: 100, nice: 0, system: 50, idle: 800, iowait: 10, irq: 5, steal: 0 };

/** One of each, for machines that differ in some values. */
export const GPU = {
  name: 'Fixture',
  vendor: 'ACME',
  loadPercent: 12.34,
  temperatureCelsius: 40,
  memoryUsedBytes: 512 * 1024 ** 2,
  memoryTotalBytes: 8 * GIB,
  powerWatts: 30,
  fanPercent: 20,
  clockMhz: 900,
  isAsleep: false,
};

export const DISK = {
  mountPoint: '/',
  usage: { totalBytes: 100 * GIB, freeBytes: 60 * GIB, availableBytes: 55 * GIB },
  device: '/dev/sda1',
  type: 'ext4',
  label: null,
  isReadOnly: false,
  isRemovable: false,
  isStale: false,
  io: { readBytes: 1000, writeBytes: 2000, busyMs: 10 },
};

export const INTERFACE: InterfaceCounters = {
  name: 'eth0',
  index: 2,
  kind: 'ethernet',
  hasDevice: true,
  masterIndex: 0,
  lowerIndex: 0,
  receivedBytes: 5000,
  sentBytes: 3000,
  receivedPackets: 50,
  sentPackets: 30,
  receiveErrors: 0,
  sendErrors: 0,
  receiveDrops: 0,
  sendDrops: 0,
  isUp: true,
  speedMbps: 1000,
  mac: '02:00:00:00:00:01',
  addresses: ['192.0.2.1'],
  signalDbm: null,
};

export const BATTERY: BatteryCounters = {
  name: 'BAT0',
  state: 'discharging',
  percent: 80,
  energyWh: 40,
  energyFullWh: 50,
  energyDesignWh: 57,
  chargeAh: null,
  chargeFullAh: null,
  chargeDesignAh: null,
  voltageVolts: 11.5,
  powerWatts: 10,
  currentAmps: null,
  secondsToEmpty: null,
  secondsToFull: null,
  failure: null,
};

export const DRIVE: DriveCounters = {
  name: 'nvme0n1',
  model: 'ACME Fast 1TB',
  kind: 'nvme',
  health: {
    isPassing: true,
    percentageUsed: 7,
    powerOnHours: 4321,
    temperatureCelsius: 41.04,
    mediaErrors: 2,
  },
  failure: null,
};

function everySection(reading: number): Required<Section> {
  const total = { ...TIMES, user: TIMES.user + 30 * reading, idle: TIMES.idle + 70 * reading };
  return {
    cpu: {
      total,
      temperatureCelsius: 51.26,
      speedHz: 3.4e9,
      cores: [{ index: 0, ...total }],
      coreSpeedsHz: [3.4e9],
      loadAverage: [0.5, 0.4, 0.3],
      pressure: { some: 0.1, full: 0 },
    },
    memory: {
      totalBytes: 16 * GIB,
      availableBytes: 4 * GIB,
      cachedBytes: GIB,
      buffersBytes: GIB,
      swapTotalBytes: 0,
      swapFreeBytes: 0,
      pressure: { some: 0, full: 0 },
    },
    gpu: [GPU],
    disks: [
      DISK,
      { mountPoint: '/never-answered', usage: null, device: 'srv:/x', type: 'nfs4', isStale: true },
    ],
    network: [{ ...INTERFACE, receivedBytes: 5000 + 100 * reading, sentBytes: 3000 + 10 * reading }],
  };
}

const DETAILS: Required<DetailCounters> = {
  sensors: [
    {
      driver: 'coretemp',
      chip: 'coretemp',
      label: 'coretemp Package id 0',
      kind: 'temperature',
      value: 51.26,
      failure: null,
    },
    { driver: 'nct6775', chip: 'nct6775', label: 'nct6775 fan1', kind: 'fan', value: 1205, failure: null },
  ],
  batteries: [BATTERY],
  drives: [
    DRIVE,
    { name: 'vda', model: null, kind: 'other', health: null, failure: 'a virtual drive has no health' },
  ],
  limits: {
    memoryBytes: 2 * GIB,
    memoryUsedBytes: GIB / 2,
    cpus: 1.5,
    throttling: { group: '/box', periods: 1000, throttledPeriods: 10 },
    failure: null,
  },
};

// Object.keys is typed as strings; these are its keys.
const DETAIL_KEYS = Object.keys(DETAILS) as readonly (keyof DetailCounters)[];

export const SYSTEM: SystemInfo = {
  hostname: 'fixture',
  os: { name: 'Linux', version: '12', build: '6.1', arch: 'x64' },
  cpu: { manufacturer: 'ACME', brand: 'Fixture CPU', cores: 8, physicalCores: 4, baseSpeedHz: 3.2e9 },
  memoryTotalBytes: 16 * GIB,
  memorySlots: 2,
  model: 'Example Works Bench 9',
  network: { name: 'eth0', mac: '02:00:00:00:00:01', ipv4: '192.0.2.1', ipv6: null },
};

export interface FixtureHost extends Host {
  /** Number of times the counters were read. */
  readonly reads: number;
}

const writers = new Set<Pick<StreamWriter, 'mayMiss'>>();

/** Until the native writers of all these hosts have sent what was published. Their clients must take it. */
export async function untilSent(): Promise<void> {
  while ([...writers].some((writer) => writer.mayMiss())) await settle();
}

function streamsOfThisMachine(): Pick<Host, 'streams'> {
  const { streams } = openNativeHost();
  if (streams === undefined) return {};
  const start: StreamHost['start'] = (...how) => {
    const writer = streams.start(...how);
    writers.add(writer);
    return writer;
  };
  return { streams: { ...streams, start } };
}

/** `change` is laid over every reading: a section or detail that it names is replaced. */
export function fixtureHost(change: Partial<Counters> = {}): FixtureHost {
  let reads = 0;
  return {
    get reads() {
      return reads;
    },
    readCounters(sections, withDetail, _nextInMs, details = ~0) {
      const wanted = SECTIONS.filter((section) => (sections & SECTION_BITS[section]) !== 0);
      const wantedDetails = DETAIL_KEYS.filter((_, at) => withDetail && (details & (1 << at)) !== 0);
      const keys = [...wanted, ...wantedDetails];
      const all = { ...everySection(reads++), ...DETAILS, ...change };
      const nowNs = Math.round(performance.now() * 1e6);
      return {
        takenAtNs: nowNs,
        sinceBootNs: Math.round(os.uptime() * 1e9),
        unixMs: Date.now(),
        ...Object.fromEntries(keys.map((key) => [key, all[key]])),
        ...(change.failures && { failures: change.failures }),
      };
    },
    readSystem: () => Promise.resolve(SYSTEM),
    // Nothing leaves this machine.
    readBroadcastAddresses: () =>
      Promise.resolve([{ name: 'test0', address: '127.0.0.1', broadcast: '127.255.255.255' }]),
    readWakeOnLan: () =>
      Promise.resolve([
        { name: 'eth0', isEnabled: true, supported: ['phy', 'magic'], armed: ['magic'], failure: null },
      ]),
    readMetrics: () =>
      Promise.resolve(
        Buffer.from(
          '# HELP node_load1 1m load average.\n# TYPE node_load1 gauge\nnode_load1 0.5\n' +
            '# HELP node_forks_total Total number of forks.\n# TYPE node_forks_total counter\nnode_forks_total 7\n',
        ),
      ),
    // Events are sent as in the service.
    ...streamsOfThisMachine(),
    tuneListener: () => 1,
    sinceBootMs: () => performance.now(),
    descriptorLimit: () => 20_000,
    openDescriptors: () => undefined,
    trimHeap: () => Promise.resolve(),
    readConnections: () => Promise.resolve([]),
  };
}
