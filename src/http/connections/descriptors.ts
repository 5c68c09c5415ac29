/** How many connections and streams the limit of open descriptors leaves room for, beside the service's own files. */

import type { Caller } from '../../access/caller.ts';
import type { CurrentConfig } from '../../config/current.ts';
import { type AddressCounts, networkOf } from '../../fairness/address-counts.ts';
import type { Host } from '../../host/host.ts';

/** Files, pipes and sockets of the service itself: 20 at rest, 54 while it reads everything (2 processors, 4 interfaces). */
const MIN_OWN = 58;
/** It has this many more for a moment, for example while processes are listed. */
const MARGIN = 2;
/** With fewer there is no room for a client. */
export const MIN_DESCRIPTORS = 64;
/** Even then. */
const MIN_CONNECTIONS = 2;
/** Counting takes this share of the time at most: old kernels list the descriptors, new ones know their number. */
const COUNTING_SHARE = 0.01;
const MIN_PAUSE_MS = 500;

/** The descriptors that streams must leave free. Of no limit (Infinity) the rest is Infinity, too. */
const reserveOf = (limit: number) => Math.min(256, Math.floor(limit / 4));

export interface DescriptorCapacityOptions {
  readonly host: Pick<Host, 'descriptorLimit' | 'openDescriptors'>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Open connections. */
  readonly connections: () => number;
}

export class DescriptorCapacity {
  readonly #options: DescriptorCapacityOptions;
  #own = MIN_OWN;
  #countAgainAt = Number.NEGATIVE_INFINITY;

  constructor(options: DescriptorCapacityOptions) {
    this.#options = options;
  }

  /**
   * Without a free descriptor accept(2) fails, the connections that wait keep the listening socket readable, and
   * uWebSockets.js polls it without a pause. So more connections than this are closed as soon as they are accepted.
   */
  maxConnections(): number {
    this.#count();
    const limit = this.#options.host.descriptorLimit();
    // Half of the reserve, at least, is for the service's own files.
    return Math.max(MIN_CONNECTIONS, limit - Math.max(Math.floor(reserveOf(limit) / 2), this.#own));
  }

  /** The others are for requests, which then get their answer, 503 for one more stream. */
  maxStreams(): number {
    const connections = this.maxConnections();
    const reserve = Math.floor(reserveOf(this.#options.host.descriptorLimit()) / 2);
    return connections - Math.min(reserve, Math.floor(connections / 4));
  }

  /** A machine with many sensors, graphics processors or disks takes more descriptors than others. */
  #count(): void {
    const { host, now, connections } = this.#options;
    const startedAt = now();
    if (startedAt < this.#countAgainAt) return;
    const open = host.openDescriptors();
    if (open !== undefined) this.#own = Math.max(MIN_OWN, open - connections() + MARGIN);
    this.#countAgainAt = startedAt + Math.max(MIN_PAUSE_MS, (now() - startedAt) / COUNTING_SHARE);
  }
}

/** This share of all streams, the last ones, is for networks that have no more than this share of those. */
const SPARE_SHARE = 1 / 4;
/** Only where there is room for that many: with fewer one client may need all of them. */
const MIN_SHARED = 64;
/** Where a key is configured, the very last are for clients that send it. */
const KEYED_SHARE = 1 / 8;

/** Whether one more subscriber may be let in beside those of `members`; `keyless` counts those without a key by address. */
export function capacityFor(
  descriptors: Pick<DescriptorCapacity, 'maxStreams'>,
  config: CurrentConfig,
  members: readonly { readonly size: number }[],
  keyless: AddressCounts,
): (caller: Caller) => boolean {
  return ({ address, isKeyed }) => {
    const { max_streams_per_address: maxOfAddress, max_streams: wanted } = config.current.server;
    const isLimited = !isKeyed && maxOfAddress > 0;
    if (isLimited && !keyless.hasCapacity(address, maxOfAddress)) return false;
    const allowed = descriptors.maxStreams();
    const max = wanted === 0 ? allowed : Math.min(wanted, allowed);
    const left = max - members.reduce((sum, { size }) => sum + size, 0);
    const hasKey = (config.current.auth.api_key ?? '') !== '';
    if (left <= (hasKey && !isKeyed ? Math.floor(max * KEYED_SHARE) : 0)) return false;
    const spare = max < MIN_SHARED ? 0 : Math.floor(max * SPARE_SHARE);
    return !isLimited || left > spare || keyless.of(networkOf(address)) < Math.ceil(spare * SPARE_SHARE);
  };
}
