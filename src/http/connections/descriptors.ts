/** How many connections and streams the limit of open descriptors leaves room for, beside the service's own files. */
import type { Host } from '../../host/host.ts';

/** Files, pipes and sockets of the service itself: 20 at rest, 54 while it reads everything (2 processors, 4 interfaces). */
const OWN = 58;
/** It has this many more for a moment, for example while processes are listed. */
const MARGIN = 2;
/** With fewer there is no room for a client. */
export const LEAST_DESCRIPTORS = 64;
/** Even then. */
const LEAST_CONNECTIONS = 2;
/** From one count to the next: old kernels list the descriptors, 20 ms for 65,536. */
const COUNT_MS = 2000;

/** Descriptors that connections leave free, and streams once more. */
const reserveOf = (limit: number) => Math.min(128, Math.floor(limit / 8));

export interface DescriptorCapacityOptions {
  readonly host: Pick<Host, 'descriptorLimit' | 'openDescriptors'>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Open connections. */
  readonly connections: () => number;
}

export class DescriptorCapacity {
  readonly #options: DescriptorCapacityOptions;
  #own = OWN;
  #countAgainAt = Number.NEGATIVE_INFINITY;

  constructor(options: DescriptorCapacityOptions) {
    this.#options = options;
  }

  /**
   * Without a free descriptor accept(2) fails, the connections that wait keep the listening socket readable, and
   * uWebSockets.js polls it without a pause. So more connections than this are closed as soon as they are accepted. Of no
   * limit (Infinity) the rest is Infinity, too.
   */
  maxConnections(): number {
    this.#count();
    const limit = this.#options.host.descriptorLimit();
    return Math.max(LEAST_CONNECTIONS, limit - Math.max(reserveOf(limit), this.#own));
  }

  /** The others are for requests, which then get their answer, 503 for one more stream. */
  maxStreams(): number {
    const connections = this.maxConnections();
    return (
      connections - Math.min(reserveOf(this.#options.host.descriptorLimit()), Math.floor(connections / 4))
    );
  }

  /** A machine with many sensors, graphics processors or disks takes more descriptors than others. */
  #count(): void {
    const { host, now, connections } = this.#options;
    if (now() < this.#countAgainAt) return;
    const open = host.openDescriptors();
    if (open !== undefined) this.#own = Math.max(OWN, open - connections() + MARGIN);
    this.#countAgainAt = now() + COUNT_MS;
  }
}
