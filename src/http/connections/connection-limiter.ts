/**
 * Looks at all connections when there is a reason to: one address may have too many, a peer does not close what this
 * side has closed, or much may be kept of requests and messages that are never finished, which uWebSockets.js does not
 * report. With fewer than a thousand connections of distinct addresses it never looks.
 */
import { canonicalPeer } from '../../access/addresses.ts';
import type { Clock } from '../../clock.ts';
import { AddressCounts, levelsOf, limitOf } from '../../fairness/address-counts.ts';
import type { ConnectionId, Host, OpenConnections } from '../../host/host.ts';
import type { Log } from '../../log/log.ts';
import type { BufferQuota, Holder } from '../clients/buffer-quota.ts';
import type { HeapTrim } from './heap.ts';

/** A peer has this long to close its side. */
const HALF_CLOSED_MS = 2000;
/** Less unanswered input is part of the price of a connection. */
const MIN_UNANSWERED = 4 * 1024;
/** uWebSockets.js keeps at most this much of a message, and less of a request (uws/server.ts). */
const MAX_UNFINISHED = 64 * 1024;
/** So many connections may each hold that much within a limit of 64 MiB. */
const MANY_UNFINISHED = 1024;
/** Beyond those, memory is compared at this interval; growth by more than this is a reason to look. */
const COMPARE_MS = 250;
const MIN_GROWTH = 8 * 2 ** 20;
/** A look takes about 2 µs per connection on a thread; the pause after it makes that 5 % of a core, or a little more. */
const PAUSE_PER_LOOK = 20;
/** Not longer, because hundreds of megabytes can arrive within a second. */
const MAX_PAUSE_MS = 500;
/** The same for half-closed connections, which every day has: 0.5 %. */
const PAUSE_PER_ROUTINE_LOOK = 200;
/** After a look that failed, for example without a free descriptor. */
const FAILED_PAUSE_MS = 1000;
/** One address, and one /64 network, may have at most this share of all connections that there is room for, */
const SHARE_OF_ALL = 3 / 4;
/** where there is room for that many: with few descriptors one client may need all of them. */
const MIN_SHARED = 256;

export interface ConnectionLimiterOptions {
  readonly host: Pick<Host, 'readConnections' | 'cutConnections'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly quota: BufferQuota;
  /** The maximum of connections of one address; 0: no limit. */
  readonly maxPerAddress: () => number;
  /** Connections that there is room for in all. */
  readonly maxInAll?: () => number;
  /** Whether a peer is a proxy that names its clients. */
  readonly isProxy: (address: string) => boolean;
  /** Open connections. */
  readonly open: () => number;
  /** Open connections without a stream: each may hold an unfinished request or message. */
  readonly unfinished: () => number;
  /** Absent: the growth of memory does not start a look. */
  readonly heap: Pick<HeapTrim, 'rss' | 'trimSoon'> | undefined;
}

/** Unanswered input of one connection, in the quota. */
class Unanswered implements Holder {
  readonly isStream = false;
  readonly address: string;
  readonly #connection: ConnectionId;
  readonly #host: ConnectionLimiterOptions['host'];

  constructor(address: string, connection: ConnectionId, host: ConnectionLimiterOptions['host']) {
    this.address = address;
    this.#connection = connection;
    this.#host = host;
  }

  cut(): void {
    this.#host.cutConnections([this.#connection]);
  }
}

export class ConnectionLimiter {
  readonly #options: ConnectionLimiterOptions;
  #ports: readonly number[] = [];
  /** At least what each address has: connections that close are noticed at the next look. */
  #counts = new AddressCounts();
  /** Connections accepted since the present look began. */
  #accepted = new AddressCounts();
  /** The count at which an address, or a network, is a reason to look. */
  #suspicious = new Map<string, number>();
  #unanswered = new Map<bigint, Unanswered>();
  #isLooking = false;
  #timer: unknown;
  #dueAt = Number.POSITIVE_INFINITY;
  #nextLookAt = Number.NEGATIVE_INFINITY;
  #lookTookMs = 0;
  #comparing: unknown;
  #rssAtLook = 0;
  #hasFailed = false;

  constructor(options: ConnectionLimiterOptions) {
    this.#options = options;
  }

  /** Before it, and after `stop`, nothing is counted and nothing refused. */
  start(...ports: readonly number[]): void {
    this.#ports = ports;
  }

  stop(): void {
    const { clock } = this.#options;
    this.#ports = [];
    clock.clearTimer(this.#timer);
    clock.clearTimer(this.#comparing);
  }

  /** A connection of the peer at `address` was accepted. False: it has as many as it may, and this one must be closed. */
  opened(address: string): boolean {
    if (this.#ports.length === 0) return true;
    this.#compareLater();
    const max = this.#options.maxPerAddress();
    if (max === 0 || this.#options.isProxy(address)) return true;
    const client = canonicalPeer(address);
    const isAdmitted = levelsOf(client)
      .map((level) => this.#admits(level, max))
      .every((admits) => admits);
    // A refused connection is closed now: those of an address do not count against its network.
    if (!isAdmitted) return false;
    this.#counts.add(client);
    if (this.#isLooking) this.#accepted.add(client);
    return true;
  }

  /** Whether one more is admitted; looks where that is a reason to. */
  #admits(level: string, maxPerAddress: number): boolean {
    const count = this.#counts.of(level) + 1;
    const max = this.#limitOf(level, maxPerAddress);
    if (count >= (this.#suspicious.get(level) ?? max / 2)) {
      // The next reason is half way to the limit, so that a look is over before it is reached.
      this.#suspicious.set(level, Math.ceil((count + max) / 2));
      this.#lookIn(0);
    }
    // A count contains those that have closed since the last look, which the number of all connections does not.
    return count <= max || this.#hasFailed || this.#options.open() <= max;
  }

  get #maxInAll(): number {
    const max = this.#options.maxInAll?.() ?? 0;
    return max < MIN_SHARED ? Number.POSITIVE_INFINITY : max;
  }

  #limitOf(level: string, maxPerAddress: number): number {
    return Math.min(limitOf(level, maxPerAddress), Math.floor(this.#maxInAll * SHARE_OF_ALL));
  }

  /** This side has closed a connection, which the peer may leave half open. */
  ended(): void {
    this.#lookIn(Math.max(HALF_CLOSED_MS, PAUSE_PER_ROUTINE_LOOK * this.#lookTookMs));
  }

  #lookIn(ms: number): void {
    if (this.#ports.length === 0) return;
    const { clock } = this.#options;
    const at = Math.max(clock.now() + ms, this.#nextLookAt);
    if (at >= this.#dueAt) return;
    clock.clearTimer(this.#timer);
    this.#dueAt = at;
    this.#timer = clock.setTimer(() => void this.#look(), at - clock.now());
  }

  /** Compares memory while so many connections may hold something that their sum matters. */
  #compareLater(): void {
    const { heap, unfinished, clock } = this.#options;
    if (heap === undefined || this.#comparing !== undefined || unfinished() < MANY_UNFINISHED) return;
    this.#comparing = clock.setTimer(() => {
      this.#comparing = undefined;
      if (unfinished() < MANY_UNFINISHED) heap.trimSoon();
      if (heap.rss() > this.#rssAtLook + MIN_GROWTH) this.#lookIn(0);
      this.#compareLater();
    }, COMPARE_MS);
  }

  async #look(): Promise<void> {
    const { host, clock, log } = this.#options;
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (this.#isLooking) {
      // That look may be past what is the reason for this one.
      this.#lookIn(MAX_PAUSE_MS);
      return;
    }
    this.#isLooking = true;
    this.#accepted = new AddressCounts();
    const startedAt = clock.now();
    try {
      const limits = { halfClosedMs: HALF_CLOSED_MS, unansweredBytes: MIN_UNANSWERED };
      const parts = await Promise.all(this.#ports.map((port) => host.readConnections(port, limits)));
      this.#lookTookMs = clock.now() - startedAt;
      this.#nextLookAt = clock.now() + Math.min(PAUSE_PER_LOOK * this.#lookTookMs, MAX_PAUSE_MS);
      this.#take({
        clients: parts.flatMap(({ clients }) => clients),
        halfClosed: parts.flatMap(({ halfClosed }) => halfClosed),
        unanswered: parts.flatMap(({ unanswered }) => unanswered),
      });
      this.#hasFailed = false;
    } catch (error) {
      this.#nextLookAt = clock.now() + FAILED_PAUSE_MS;
      if (!this.#hasFailed) log.warn(`connections cannot be counted: ${String(error)}`);
      this.#hasFailed = true;
    } finally {
      this.#isLooking = false;
    }
  }

  #take({ clients, halfClosed, unanswered }: OpenConnections): void {
    if (this.#ports.length === 0) return;
    this.#counts = new AddressCounts();
    for (const { address, connections } of clients) this.#counts.add(address, connections);
    for (const [address, count] of this.#accepted.addresses()) this.#counts.add(address, count);
    const max = this.#options.maxPerAddress();
    for (const level of this.#suspicious.keys())
      if (this.#counts.of(level) < this.#limitOf(level, max) / 2) this.#suspicious.delete(level);
    const cut = this.#options.host.cutConnections(halfClosed);
    if (cut > 0) this.#options.log.debug(`${cut} half-closed connections cut`);
    this.#charge(unanswered);
    this.#rssAtLook = this.#options.heap?.rss() ?? 0;
    // Connections charged now may be answered soon.
    if (this.#unanswered.size > 0) this.#lookIn(HALF_CLOSED_MS);
  }

  #charge(unanswered: OpenConnections['unanswered']): void {
    const { host, quota } = this.#options;
    const before = this.#unanswered;
    this.#unanswered = new Map();
    for (const { connection, address, bytes } of unanswered) {
      const known = before.get(connection.cookie);
      before.delete(connection.cookie);
      const holder = known ?? new Unanswered(address, connection, host);
      this.#unanswered.set(connection.cookie, holder);
      quota.set(holder, Math.min(bytes, MAX_UNFINISHED));
    }
    for (const holder of before.values()) quota.release(holder);
  }
}
