/**
 * A model of a machine's processors, memory and disks: what their counters do while processors go off-line, memory is
 * given and taken, disks are plugged, mounted and fail, and the machine sleeps. It notes what really happened between two
 * readings; how a sample is derived from them it does not know.
 */
import type { CoreTimes, Counters, CpuTimes, DiskCounters, MemoryCounters } from '#src/host/host.js';
import type { Random } from '../helpers/random.ts';
import { times } from './literals.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const STATES = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'steal'] as const;
const MAX_CORES = 8;
const MAX_DISKS = 6;
const MS_PER_TICK = 10;
const MIB = 2 ** 20;

export interface ModelCore {
  readonly index: number;
  readonly times: Mutable<CpuTimes>;
  isOnline: boolean;
  /** Time that it has spent since the last reading. */
  readonly spent: Mutable<CpuTimes>;
  /** A counter stepped back, or it was switched, since the last reading. */
  isDisturbed: boolean;
}

export interface ModelDisk {
  readonly device: string;
  mountPoint: string;
  readonly totalBytes: number;
  /** Only root may use the last of it. */
  readonly reservedBytes: number;
  usedBytes: number;
  readonly io: { readBytes: number; writeBytes: number; busyMs: number };
  /** Since the last reading. */
  readonly carried: { read: number; written: number; busyMs: number };
  /** It was not there in the last reading, or its counters were reset since. */
  isNew: boolean;
}

export class ModelMachine {
  readonly cores: readonly ModelCore[];
  readonly disks: ModelDisk[] = [];
  readonly #random: Random;
  readonly #memory: Mutable<MemoryCounters> & { swapTotalBytes: number; swapFreeBytes: number };
  #awakeMs = 100_000;
  #sleptMs = 0;
  #nextMount = 0;
  #readAtMs = 0;
  /** Since the last reading. */
  hasSlept = false;

  constructor(random: Random) {
    this.#random = random;
    this.cores = Array.from({ length: 1 + random.below(MAX_CORES) }, (_, index) => ({
      index,
      times: times(),
      spent: times(),
      isOnline: true,
      isDisturbed: false,
    }));
    const totalBytes = (1 + random.below(4096)) * MIB;
    const swapTotalBytes = random.below(3) * 512 * MIB;
    this.#memory = { totalBytes, availableBytes: totalBytes, swapTotalBytes, swapFreeBytes: swapTotalBytes };
    this.#plug();
  }

  /** Milliseconds awake since the last reading. */
  get elapsedMs(): number {
    return this.#awakeMs - this.#readAtMs;
  }

  read(): Counters {
    const online = this.cores.filter((core) => core.isOnline);
    // The kernel sums over all processors that may ever be there.
    const total = times();
    for (const core of this.cores) addTimes(total, core.times);
    const cores = online.map((core): CoreTimes => ({ index: core.index, ...core.times }));
    return {
      takenAtNs: this.#awakeMs * 1e6,
      sinceBootNs: (this.#awakeMs + this.#sleptMs) * 1e6,
      unixMs: 1e12 + this.#awakeMs + this.#sleptMs,
      cpu: { total, cores, temperatureCelsius: null, speedHz: null },
      memory: { ...this.#memory },
      disks: this.disks.map(countersOf),
    };
  }

  /** A reading has been compared with what happened: the next one begins. */
  beginReading(): void {
    this.#readAtMs = this.#awakeMs;
    this.hasSlept = false;
    for (const core of this.cores) {
      Object.assign(core.spent, times());
      core.isDisturbed = false;
    }
    for (const disk of this.disks) {
      Object.assign(disk.carried, { read: 0, written: 0, busyMs: 0 });
      disk.isNew = false;
    }
  }

  /** Up to two seconds pass. */
  pass(): void {
    const ticks = 1 + this.#random.below(200);
    this.#awakeMs += ticks * MS_PER_TICK;
    for (const core of this.cores) if (core.isOnline) this.#work(core, ticks);
    for (const disk of this.disks) this.#transfer(disk, ticks * MS_PER_TICK);
    this.#useMemory();
  }

  /** One random event. */
  change(): void {
    const events = [
      () => this.#switchCore(),
      () => this.#stepBack(),
      () => this.#resizeMemory(),
      () => this.#plug(),
      () => this.#unplug(),
      () => this.#remount(),
      () => this.#resetDisk(),
      () => this.#suspend(),
    ];
    this.#random.pick(events)();
  }

  #work(core: ModelCore, ticks: number): void {
    for (let left = ticks; left > 0; ) {
      const part = 1 + this.#random.below(left);
      const state = this.#random.pick(STATES);
      core.times[state] += part;
      core.spent[state] += part;
      left -= part;
    }
  }

  #transfer({ io, carried, ...disk }: ModelDisk, ms: number): void {
    const room = disk.totalBytes - disk.usedBytes;
    const read = this.#random.below(1e9);
    const written = this.#random.below(1e9);
    const busyMs = this.#random.below(ms + 1);
    io.readBytes += read;
    io.writeBytes += written;
    io.busyMs += busyMs;
    carried.read += read;
    carried.written += written;
    carried.busyMs += busyMs;
    const found = this.disks.find((one) => one.device === disk.device);
    if (found !== undefined) found.usedBytes += this.#random.below(room + 1);
    if (found !== undefined && this.#random.below(4) === 0)
      found.usedBytes = this.#random.below(found.usedBytes);
  }

  /** With ZFS more may be available than there is, when its cache is counted again. */
  #useMemory(): void {
    const memory = this.#memory;
    memory.availableBytes = this.#random.below(memory.totalBytes + 64 * MIB);
    memory.swapFreeBytes = this.#random.below(memory.swapTotalBytes + 1);
  }

  #resizeMemory(): void {
    this.#memory.totalBytes = (1 + this.#random.below(4096)) * MIB;
    this.#useMemory();
    this.#memory.swapTotalBytes = this.#random.below(3) * 512 * MIB;
    this.#memory.swapFreeBytes = this.#random.below(this.#memory.swapTotalBytes + 1);
  }

  /** The first stays on. Off-line, the precise idle time is replaced by the one counted in ticks, which may be less. */
  #switchCore(): void {
    const core = this.#random.pick(this.cores);
    if (core.index === 0) return;
    core.isOnline = !core.isOnline;
    core.isDisturbed = true;
    core.times.idle = Math.max(0, core.times.idle - this.#random.below(100));
  }

  /** proc_stat(5): iowait decreases in certain conditions. */
  #stepBack(): void {
    const core = this.#random.pick(this.cores);
    core.isDisturbed = true;
    core.times.iowait = Math.max(0, core.times.iowait - this.#random.below(300));
  }

  /** A name that was free, which another disk may have had. */
  #plug(): void {
    const names = Array.from({ length: MAX_DISKS }, (_, i) => `sd${i}`);
    const free = names.filter((name) => !this.disks.some(({ device }) => device === name));
    if (free.length === 0) return;
    const totalBytes = (1 + this.#random.below(1e6)) * MIB;
    this.disks.push({
      device: this.#random.pick(free),
      mountPoint: this.#freeMountPoint(),
      totalBytes,
      reservedBytes: this.#random.below(totalBytes / 20),
      usedBytes: this.#random.below(totalBytes),
      io: { readBytes: 0, writeBytes: 0, busyMs: 0 },
      carried: { read: 0, written: 0, busyMs: 0 },
      isNew: true,
    });
  }

  #unplug(): void {
    this.disks.splice(this.#random.below(this.disks.length + 1), 1);
  }

  #remount(): void {
    const disk = this.disks[this.#random.below(this.disks.length + 1)];
    if (disk === undefined) return;
    disk.mountPoint = this.#freeMountPoint();
    disk.isNew = true;
  }

  /** Used again and again, so that one place has different disks in turn. */
  #freeMountPoint(): string {
    do this.#nextMount = (this.#nextMount + 1) % (MAX_DISKS + 2);
    while (this.disks.some(({ mountPoint }) => mountPoint === `/mnt/${this.#nextMount}`));
    return `/mnt/${this.#nextMount}`;
  }

  #resetDisk(): void {
    const disk = this.disks[this.#random.below(this.disks.length + 1)];
    if (disk === undefined) return;
    Object.assign(disk.io, { readBytes: 0, writeBytes: 0, busyMs: 0 });
    disk.isNew = true;
  }

  #suspend(): void {
    this.#sleptMs += 2000 + this.#random.below(1e7);
    this.hasSlept = true;
  }
}

/** Adds each of `more` to `sum`. */
export function addTimes(sum: Mutable<CpuTimes>, more: CpuTimes): void {
  for (const state of STATES) sum[state] += more[state];
}

function countersOf({
  device,
  mountPoint,
  totalBytes,
  reservedBytes,
  usedBytes,
  io,
}: ModelDisk): DiskCounters {
  const freeBytes = totalBytes - usedBytes;
  const availableBytes = Math.max(0, freeBytes - reservedBytes);
  return { mountPoint, device, io: { ...io }, usage: { totalBytes, freeBytes, availableBytes } };
}
