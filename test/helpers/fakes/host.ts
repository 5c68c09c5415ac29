/** A machine made of literals: every section readable and full, and a count of what was read. */
import os from 'node:os';
import type { BatteryCounters, Counters, Host, SensorCounters, SystemInfo } from '#src/host/host.js';
import { SECTION_BITS } from '#src/host/host.js';

const GIB = 1024 ** 3;

type Section = Pick<Counters, 'cpu' | 'memory' | 'gpus' | 'disks' | 'interfaces'>;

const TIMES = { user: 100, nice: 0, system: 50, idle: 800, iowait: 10, irq: 5, steal: 0 };

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
    gpus: [
      {
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
      },
    ],
    disks: [
      {
        mountPoint: '/',
        usage: { totalBytes: 100 * GIB, freeBytes: 60 * GIB, availableBytes: 55 * GIB },
        device: '/dev/sda1',
        type: 'ext4',
        label: null,
        isReadOnly: false,
        isRemovable: false,
        isStale: false,
        io: { readBytes: 1000, writeBytes: 2000, busyMs: 10 },
      },
      { mountPoint: '/never-answered', usage: null, device: 'srv:/x', type: 'nfs4', isStale: true },
    ],
    interfaces: [
      {
        name: 'eth0',
        index: 2,
        kind: 'ethernet',
        hasDevice: true,
        isMember: false,
        receivedBytes: 5000 + 100 * reading,
        sentBytes: 3000 + 10 * reading,
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
      },
    ],
  };
}

const SENSORS: readonly SensorCounters[] = [
  {
    driver: 'coretemp',
    chip: 'coretemp',
    label: 'coretemp Package id 0',
    kind: 'temperature',
    value: 51.26,
    failure: null,
  },
  { driver: 'nct6775', chip: 'nct6775', label: 'nct6775 fan1', kind: 'fan', value: 1205, failure: null },
];

const BATTERIES: readonly BatteryCounters[] = [
  {
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
  },
];

export const SYSTEM: SystemInfo = {
  hostname: 'fixture',
  os: { name: 'Linux', version: '12', build: '6.1', arch: 'x64' },
  cpu: { manufacturer: 'ACME', brand: 'Fixture CPU', cores: 8, physicalCores: 4, baseSpeedHz: 3.2e9 },
  memoryTotalBytes: 16 * GIB,
  memorySlots: 2,
  network: { name: 'eth0', mac: '02:00:00:00:00:01', ipv4: '192.0.2.1', ipv6: null },
};

const SECTION_KEYS = [
  ['cpu', SECTION_BITS.cpu],
  ['memory', SECTION_BITS.memory],
  ['gpus', SECTION_BITS.gpu],
  ['disks', SECTION_BITS.disks],
  ['interfaces', SECTION_BITS.network],
] as const;

export interface FixtureHost extends Host {
  /** How often the counters were read. */
  readonly reads: number;
}

/** `change` is laid over every reading: a section it names is replaced. */
export function fixtureHost(change: Partial<Counters> = {}): FixtureHost {
  let reads = 0;
  return {
    get reads() {
      return reads;
    },
    readCounters(sections, withDetail) {
      const all = { ...everySection(reads++), ...change };
      const wanted = SECTION_KEYS.filter(([, bit]) => (sections & bit) !== 0);
      const nowNs = Math.round(performance.now() * 1e6);
      return {
        takenAtNs: nowNs,
        sinceBootNs: Math.round(os.uptime() * 1e9),
        unixMs: Date.now(),
        ...Object.fromEntries(wanted.map(([key]) => [key, all[key]])),
        ...(withDetail && { sensors: change.sensors ?? SENSORS, batteries: change.batteries ?? BATTERIES }),
        ...(change.failures && { failures: change.failures }),
      };
    },
    readSystem: () => Promise.resolve(SYSTEM),
    tuneListener: () => 1,
    descriptorLimit: () => 20_000,
    canReadPendingPeers: () => false,
    readPendingPeers: () => Promise.resolve([]),
    cutPeers: () => 0,
  };
}
