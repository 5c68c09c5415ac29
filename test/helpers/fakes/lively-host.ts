/** A machine with all kinds of hardware, for the dashboard. Its counters follow slow waves. */
import type { SensorCounters } from '#src/host/details.js';
import type { Counters, Host } from '#src/host/host.js';
import { BATTERY, DISK, DRIVE, fixtureHost, GPU, INTERFACE } from './host.ts';
import { LivelyProcesses } from './lively-processes.ts';
import { FakeMediaHost, playerOf, snapshotOf } from './media.ts';
import type { ProcessLiteral } from './process-columns.ts';
import { wave } from './wave.ts';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const CORES = 16;

/** The load that all processors share, plus each one's own. */
const loadOf = (seconds: number, core: number) =>
  0.6 * wave(seconds, 1) ** 2 + 0.4 * wave(seconds, core * 1.7) ** 2;
const receiveRate = (seconds: number) => 24 * MIB * wave(seconds, 3.1) ** 4;
const sendRate = (seconds: number) => 5 * MIB * wave(seconds, 8.2) ** 3;
const readRate = (seconds: number) => 210 * MIB * wave(seconds, 12.4) ** 6;
const writeRate = (seconds: number) => 90 * MIB * wave(seconds, 17.9) ** 5;

/** The growth of counters since `from`: sums of steps of a quarter of a second. */
class Odometer {
  #at: number;
  readonly #rates: readonly ((seconds: number) => number)[];
  readonly totals: number[];

  constructor(from: number, rates: readonly ((seconds: number) => number)[]) {
    this.#at = from;
    this.#rates = rates;
    this.totals = rates.map(() => 0);
  }

  advance(to: number): void {
    for (; this.#at + 0.25 <= to; this.#at += 0.25)
      this.#rates.forEach((rate, i) => {
        this.totals[i] = (this.totals[i] ?? 0) + rate(this.#at) / 4;
      });
  }
}

const sensor = (
  driver: string,
  name: string,
  value: number,
  kind: SensorCounters['kind'] = 'temperature',
) => ({
  driver,
  chip: driver,
  label: `${driver} ${name}`,
  kind,
  value,
  failure: null,
});

function sensorsAt(s: number): readonly SensorCounters[] {
  return [
    sensor('k10temp', 'Tctl', 48 + 30 * wave(s, 1)),
    sensor('nvme', 'Composite', 41 + 9 * wave(s, 12.4)),
    sensor('drivetemp', 'WDC WD80EFPX', 34 + 2 * wave(s, 4)),
    sensor('iwlwifi', 'temp1', 44 + 6 * wave(s, 3.1)),
    sensor('nct6798', 'CPU fan', 820 + 700 * wave(s, 1), 'fan'),
    sensor('nct6798', 'Chassis fan', 640 + 90 * wave(s, 2), 'fan'),
    sensor('nct6798', 'Vcore', 1.08 + 0.2 * wave(s, 1), 'voltage'),
  ];
}

const MOUNTS = [
  { mountPoint: '/', device: '/dev/nvme0n1p2', type: 'ext4', totalGib: 480, part: 0.38, share: 1 },
  { mountPoint: '/home', device: '/dev/nvme0n1p3', type: 'ext4', totalGib: 1380, part: 0.66, share: 0.4 },
  { mountPoint: '/srv/media', device: '/dev/sda1', type: 'btrfs', totalGib: 7450, part: 0.91, share: 0.2 },
];

/** A player that carries out commands. `artUrl` is the address of its cover. */
export function livelyMedia(artUrl: string | null = null): FakeMediaHost {
  const media = new FakeMediaHost();
  const track = {
    title: 'An Ending (Ascent)',
    artists: ['Brian Eno'],
    album: 'Apollo: Atmospheres & Soundtracks',
    durationSeconds: 264,
    positionSeconds: 97,
    rate: 1,
    volume: 0.6,
    artUrl,
  };
  media.snapshot = snapshotOf(playerOf('spotify', { playback: 'playing', ...track }));
  const { control } = media;
  media.control = (id, verb, value, limitMs) => {
    const playback = verb === 'pause' ? 'paused' : verb === 'play' ? 'playing' : undefined;
    const [now] = media.snapshot.players;
    if (now !== undefined && playback !== undefined) media.change(snapshotOf({ ...now, playback }));
    return control.call(media, id, verb, value, limitMs);
  };
  return media;
}

export interface LivelyHost extends Host {
  /** Number of times the counters were read. */
  readonly reads: number;
  readonly media: FakeMediaHost;
  readonly processes: LivelyProcesses;
}

interface LivelyOptions {
  /** Seconds by which its clocks are ahead of the real ones. */
  readonly ahead?: () => number;
  readonly artUrl?: string | null;
  /** Default: those of a workstation. */
  readonly processes?: readonly ProcessLiteral[];
}

/** The machine has been running for a little over a day. */
export function livelyHost({ ahead = () => 0, artUrl = null, processes }: LivelyOptions = {}): LivelyHost {
  const seconds = () => 100_000 + performance.now() / 1000 + ahead();
  const idle = Array.from({ length: CORES }, (_, core) => (s: number) => 100 * (1 - loadOf(s, core)));
  const busy = Array.from({ length: CORES }, (_, core) => (s: number) => 100 * loadOf(s, core));
  const flows = [receiveRate, sendRate, readRate, writeRate];
  const odometer = new Odometer(seconds() - 600, [...idle, ...busy, ...flows]);
  const base = fixtureHost();
  return {
    ...base,
    get reads() {
      return base.reads;
    },
    media: livelyMedia(artUrl),
    processes: new LivelyProcesses(seconds, processes),
    readSystem: async () => ({
      ...(await base.readSystem()),
      hostname: 'workbench',
      os: { name: 'Debian GNU/Linux', version: '12', build: '6.1.0-27', arch: 'x64' },
      cpu: {
        manufacturer: 'AMD',
        brand: 'AMD Ryzen 7 7840U',
        cores: CORES,
        physicalCores: 8,
        baseSpeedHz: 3.3e9,
      },
    }),
    readCounters(...asked) {
      const s = seconds();
      odometer.advance(s);
      return {
        ...base.readCounters(...asked),
        takenAtNs: Math.round(s * 1e9),
        sinceBootNs: Math.round(s * 1e9),
        unixMs: Date.now() + 1000 * ahead(),
        ...countersAt(s, odometer.totals),
      };
    },
  };
}

/** `host` with some counters changed. */
export function withCounters(
  host: LivelyHost,
  change: (counters: Counters) => Partial<Counters>,
): LivelyHost {
  return {
    ...host,
    readCounters(...asked) {
      const counters = host.readCounters(...asked);
      return { ...counters, ...change(counters) };
    },
  };
}

function countersAt(s: number, totals: readonly number[]): Partial<Counters> {
  const others = { nice: 0, iowait: 0, irq: 0, steal: 0 };
  const times = Array.from({ length: CORES }, (_, core) => ({
    user: 0.7 * (totals[CORES + core] ?? 0),
    system: 0.3 * (totals[CORES + core] ?? 0),
    idle: totals[core] ?? 0,
    ...others,
  }));
  const sum = (key: 'user' | 'system' | 'idle') => times.reduce((total, each) => total + each[key], 0);
  const [received = 0, sent = 0, read = 0, written = 0] = totals.slice(2 * CORES);
  return {
    cpu: {
      total: { user: sum('user'), system: sum('system'), idle: sum('idle'), ...others },
      temperatureCelsius: 48 + 30 * wave(s, 1),
      speedHz: 2.4e9 + 2.3e9 * wave(s, 1),
      cores: times.map((each, index) => ({ index, ...each })),
      coreSpeedsHz: times.map((_, i) => 2.2e9 + 2e9 * wave(s, i)),
      loadAverage: [2.1 + 3 * wave(s, 1), 2.84, 2.37],
      pressure: { some: 1.4 * wave(s, 6), full: 0 },
    },
    memory: {
      totalBytes: 32 * GIB,
      availableBytes: (19 - 9 * wave(s, 5)) * GIB,
      cachedBytes: 8.3 * GIB,
      buffersBytes: 0.4 * GIB,
      swapTotalBytes: 8 * GIB,
      swapFreeBytes: 7.1 * GIB,
      pressure: { some: 0, full: 0 },
    },
    gpu: [
      {
        ...GPU,
        name: 'Radeon RX 7800 XT',
        vendor: 'AMD',
        loadPercent: 100 * wave(s, 9) ** 1.2,
        temperatureCelsius: 42 + 30 * wave(s, 9),
        memoryUsedBytes: (3 + 5 * wave(s, 9.4)) * GIB,
        memoryTotalBytes: 16 * GIB,
        powerWatts: 30 + 160 * wave(s, 9),
        fanPercent: 24 + 30 * wave(s, 9),
        clockMhz: 700 + 1600 * wave(s, 9),
      },
    ],
    disks: MOUNTS.map(({ mountPoint, device, type, totalGib, part, share }) => ({
      ...DISK,
      mountPoint,
      device,
      type,
      usage: {
        totalBytes: totalGib * GIB,
        freeBytes: totalGib * (1 - part) * GIB,
        availableBytes: totalGib * (1 - part) * GIB,
      },
      io: {
        readBytes: Math.round(read * share),
        writeBytes: Math.round(written * share),
        busyMs: Math.round(s * 60 * share),
      },
    })),
    network: [
      interfaceOf('enp6s0', 'ethernet', 2, received, sent),
      interfaceOf('wlp5s0', 'wifi', 3, received * 0.02, sent * 0.05),
    ],
    sensors: sensorsAt(s),
    batteries: [
      { ...BATTERY, percent: 78 - (s % 3600) / 200, energyWh: 38.4, powerWatts: 9 + 8 * wave(s, 1) },
    ],
    drives: [
      {
        ...DRIVE,
        health: DRIVE.health && { ...DRIVE.health, temperatureCelsius: 41 + 3 * wave(s, 2), mediaErrors: 0 },
      },
    ],
    limits: null,
  };
}

function interfaceOf(name: string, kind: 'ethernet' | 'wifi', index: number, received: number, sent: number) {
  return {
    ...INTERFACE,
    name,
    index,
    kind,
    receivedBytes: Math.round(received) + 41 * GIB,
    sentBytes: Math.round(sent) + 6 * GIB,
    addresses: [`192.0.2.${index}`],
    signalDbm: kind === 'wifi' ? -52 : null,
  };
}
