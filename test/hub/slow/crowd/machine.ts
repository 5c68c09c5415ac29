/** A simulated machine, and the samples of its agent: one per second while there are takers. */
import process from 'node:process';

/** Milliseconds of CLOCK_MONOTONIC, which is the same in all processes of a machine. */
export function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

export const SECTIONS = ['cpu', 'memory', 'gpu', 'disks', 'network'] as const;
export type Section = (typeof SECTIONS)[number];

const mount = (fs: string) => `{"fs":"${fs}","used":42949672960,"available":59055800320,"used_percent":42.1}`;

/** As large as those of a plain sample of a machine with three mounts. */
const FIXED = {
  memory: '"memory":{"used":1154760704,"free":24121266176,"used_percent":4.6}',
  gpu: '"gpu":null',
  disks: `"disks":[${['/', '/home', '/srv'].map(mount).join(',')}]`,
  network: '"network":{"bytesRecv":123456789012,"bytesSent":98765432109}',
};

/** JSON members. */
export interface Sample {
  /** The time, the number of the sample, which rises by one, and when it was sent. */
  readonly begin: string;
  readonly sections: Readonly<Record<Section, string>>;
}

const INTERVAL_MS = 1000;
/** From one sample to the next, as a real agent leaves it: the writer of a hub sends the newest one only. */
const MIN_GAP_MS = 200;

/** Counters of all machines of this process. */
export const counters = { samples: 0 };

export class Machine {
  readonly #takers = new Set<(sample: Sample) => void>();
  #number = 0;
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = 0;
  #sampledAtMs = Number.NEGATIVE_INFINITY;
  /** A sample waits until the last one is old enough. */
  #soon: NodeJS.Timeout | undefined;

  /** Calls `take` with each sample until the returned function is called. Without takers it rests. */
  attach(take: (sample: Sample) => void): () => void {
    this.#takers.add(take);
    if (this.#timer === undefined) {
      // Spread over the second, as those of a thousand machines are.
      this.#dueAtMs = now() + Math.random() * INTERVAL_MS;
      this.#arm();
    }
    return () => {
      this.#takers.delete(take);
      if (this.#takers.size > 0) return;
      clearTimeout(this.#timer);
      clearTimeout(this.#soon);
      this.#timer = undefined;
      this.#soon = undefined;
    };
  }

  /** Hands a sample to all takers as soon as the last one is old enough. */
  sample(): void {
    const waitMs = this.#sampledAtMs + MIN_GAP_MS - now();
    if (waitMs <= 0) this.#take();
    else
      this.#soon ??= setTimeout(() => {
        this.#soon = undefined;
        this.#take();
      }, waitMs);
  }

  #take(): void {
    counters.samples++;
    this.#sampledAtMs = now();
    const load = (100 * Math.random()).toFixed(1);
    const sample = {
      begin: `"timestamp":${Math.floor(Date.now() / 1000)},"number":${++this.#number},"sent":${now().toFixed(3)},"uptime":2311`,
      sections: {
        ...FIXED,
        cpu: `"cpu":{"current_load":${load},"current_temp":51.2,"current_speed":3.4}`,
      },
    };
    for (const take of this.#takers) take(sample);
  }

  #arm(): void {
    this.#timer = setTimeout(
      () => {
        this.#dueAtMs = Math.max(this.#dueAtMs + INTERVAL_MS, now());
        this.#arm();
        this.sample();
      },
      Math.max(0, this.#dueAtMs - now()),
    );
  }
}
