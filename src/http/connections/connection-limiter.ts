/**
 * Limits the connections of one address. An engine reports what it accepts, and uWebSockets.js not whose connection has
 * closed: what is counted is at least what each address has, and before one is refused all connections are looked at.
 */
import { canonicalPeer } from '../../access/addresses.ts';
import type { Clock } from '../../clock.ts';
import { limitsPerAddress, Places } from '../../fairness/places.ts';
import type { Host } from '../../host/host.ts';
import type { Log } from '../../log/log.ts';

/** From the end of one look to the next. One takes about 1 µs per connection, on a thread. */
const PAUSE_MS = 500;

export interface ConnectionLimiterOptions {
  readonly host: Pick<Host, 'readConnections'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
  /** The maximum of connections of one address; 0: no limit. */
  readonly maxPerAddress: () => number;
  /** Connections that there is room for in all. */
  readonly maxInAll: () => number;
  /** Whether a peer is a proxy that names its clients. */
  readonly isProxy: (address: string) => boolean;
  /** Open connections. */
  readonly open: () => number;
}

export class ConnectionLimiter {
  readonly #options: ConnectionLimiterOptions;
  #ports: readonly number[] = [];
  #places = this.#noPlaces();
  /** Connections accepted since the present look began; undefined: there is none. */
  #accepted: string[] | undefined;
  #nextLookAt = Number.NEGATIVE_INFINITY;
  #hasFailed = false;

  constructor(options: ConnectionLimiterOptions) {
    this.#options = options;
  }

  /** Before it, and after `stop`, nothing is counted and nothing refused. */
  start(...ports: readonly number[]): void {
    this.#ports = ports;
  }

  stop(): void {
    this.#ports = [];
  }

  /** A connection of the peer at `peer` was accepted. False: it has as many as it may, and this one must be closed. */
  opened(peer: string): boolean {
    const max = this.#options.maxPerAddress();
    if (this.#ports.length === 0 || max === 0 || this.#options.isProxy(peer)) return true;
    const address = canonicalPeer(peer);
    // Earlier than the limit, so that the look is over when it is reached.
    if (this.#places.of(address) >= max / 2 || !this.#hasCapacity(address)) void this.#look();
    if (!this.#hasCapacity(address) && !this.#hasFailed && this.#options.open() > max) return false;
    this.#places.add({ address, isKeyed: false });
    this.#accepted?.push(address);
    return true;
  }

  #hasCapacity(address: string): boolean {
    return this.#places.hasCapacity({ address, isKeyed: false });
  }

  #noPlaces(): Places {
    // Those beyond the number in all are closed by the engine.
    return new Places(() => ({
      ...limitsPerAddress(this.#options.maxInAll(), this.#options.maxPerAddress()),
      inAll: Number.POSITIVE_INFINITY,
      keyless: Number.POSITIVE_INFINITY,
    }));
  }

  async #look(): Promise<void> {
    const { host, clock, log } = this.#options;
    if (this.#accepted !== undefined || clock.now() < this.#nextLookAt) return;
    this.#accepted = [];
    try {
      const clients = (await Promise.all(this.#ports.map((port) => host.readConnections(port)))).flat();
      this.#places = this.#noPlaces();
      for (const { address, connections } of clients)
        this.#places.add({ address, isKeyed: false }, connections);
      for (const address of this.#accepted) this.#places.add({ address, isKeyed: false });
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) log.warn(`connections cannot be counted: ${String(error)}`);
      this.#hasFailed = true;
    } finally {
      this.#accepted = undefined;
      this.#nextLookAt = clock.now() + PAUSE_MS;
    }
  }
}
