/**
 * Cuts connections whose peer acknowledges nothing: vanished, or alive and not reading. The kernel's own timer for that,
 * TCP_USER_TIMEOUT, adds up the stalls of a reader that stalls now and then, and cuts it too early.
 */
import type { Clock } from '../../clock.ts';
import type { Host, PendingPeer } from '../../host/host.ts';
import type { Log } from '../../log/log.ts';

/** A peer without progress for this long is gone. */
export const SILENT_LIMIT_MS = 20_000;
/**
 * Pause between two looks at all connections, per connection. A look costs 1 µs of CPU per connection: this pause makes
 * that 0.01 % of a core, and with thousands of connections 0.5 % of the cost of one event per second to each of them.
 */
const PAUSE_MS_PER_CONNECTION = 10;
const MIN_PAUSE_MS = 5000;
/** Less than the limit: the first look already reports how long a vanished peer has been silent. */
const MAX_PAUSE_MS = 15_000;
/** Cutting one takes about 5 µs, while all others wait. */
const MAX_CUT_PER_TURN = 500;

/** A connection with bytes pending. */
export interface Suspect {
  readonly peer: PendingPeer;
  /** Upper bound on when this peer last made progress. */
  readonly since: number;
}

/** By cookie. */
export type Suspects = ReadonlyMap<bigint, Suspect>;

/** The result of a look at all connections. */
export interface Look {
  readonly peers: readonly PendingPeer[];
  /** When this look and the one before it ended. */
  readonly at: number;
  readonly previousAt: number;
}

/** The suspects after `look`, of which `previous` were suspects before it. Pure. */
export function judgeLook(previous: Suspects, { peers, at, previousAt }: Look): Suspects {
  return new Map(
    peers.map((peer) => {
      const known = previous.get(peer.cookie);
      if (known?.peer.acknowledgedBytes === peer.acknowledgedBytes) return [peer.cookie, known];
      // At the previous look it had made other progress, or nothing was pending, or it was not there.
      return [peer.cookie, { peer, since: Math.max(previousAt, at - peer.silentMs) }];
    }),
  );
}

/** Divides `suspects` into those without progress for `limitMs` at `now` and the others. Pure. */
export function judgeTime(
  suspects: Suspects,
  now: number,
  limitMs: number,
): { readonly gone: readonly PendingPeer[]; readonly kept: Suspects; readonly nextAt: number } {
  const gone: PendingPeer[] = [];
  const kept = new Map<bigint, Suspect>();
  let nextAt = Number.POSITIVE_INFINITY;
  for (const [cookie, suspect] of suspects) {
    const dueAt = suspect.since + limitMs;
    if (dueAt <= now) gone.push(suspect.peer);
    else {
      kept.set(cookie, suspect);
      nextAt = Math.min(nextAt, dueAt);
    }
  }
  return { gone, kept, nextAt };
}

export interface PeerWatchOptions {
  readonly host: Pick<Host, 'readPendingPeers' | 'cutPeers'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The server whose connections are watched. */
  readonly server: { readonly connections: number };
  /** For tests: replaces SILENT_LIMIT_MS, and the pause between two looks. */
  readonly limitMs?: number;
  readonly pauseMs?: number;
}

/** Watches the connections of the service's ports while there are any. */
export class PeerWatch {
  readonly #options: PeerWatchOptions;
  readonly #limitMs: number;
  #ports: readonly number[] = [];
  #suspects: Suspects = new Map();
  #timer: unknown;
  #nextLookAt = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;
  #hasFailed = false;

  constructor(options: PeerWatchOptions) {
    this.#options = options;
    this.#limitMs = options.limitMs ?? SILENT_LIMIT_MS;
  }

  /** Starts watching the connections of `ports`; before it, and after `stop`, `wake` does nothing. */
  start(...ports: readonly number[]): void {
    this.#ports = ports;
    this.wake();
  }

  stop(): void {
    this.#ports = [];
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  /** A connection was opened. */
  wake(): void {
    if (this.#ports.length === 0 || this.#timer !== undefined || this.#isLooking) return;
    const now = this.#options.clock.now();
    // Nothing was pending while there was no connection.
    this.#lookedAt = now;
    this.#nextLookAt = now + this.#pauseMs();
    this.#sleepUntil(this.#nextLookAt);
  }

  #pauseMs(): number {
    const { pauseMs, server } = this.#options;
    if (pauseMs !== undefined) return pauseMs;
    return Math.min(Math.max(MIN_PAUSE_MS, PAUSE_MS_PER_CONNECTION * server.connections), MAX_PAUSE_MS);
  }

  #sleepUntil(at: number): void {
    const { clock } = this.#options;
    // At least 500 ms, so that peers that fall due one after the other are cut together.
    const delayMs = Math.max(at - clock.now(), Math.min(500, this.#pauseMs()));
    this.#timer = clock.setTimer(() => {
      this.#timer = undefined;
      void this.#turn();
    }, delayMs);
  }

  async #turn(): Promise<void> {
    const { clock, server } = this.#options;
    if (server.connections === 0) {
      this.#suspects = new Map();
      return;
    }
    if (clock.now() >= this.#nextLookAt) await this.#look();
    if (this.#ports.length === 0) return;
    const { gone, kept, nextAt } = judgeTime(this.#suspects, clock.now(), this.#limitMs);
    this.#suspects = kept;
    this.#cut(gone);
    this.#sleepUntil(Math.min(this.#nextLookAt, nextAt));
  }

  async #look(): Promise<void> {
    const { host, clock, log } = this.#options;
    this.#nextLookAt = clock.now() + this.#pauseMs();
    this.#isLooking = true;
    try {
      const peers = (await Promise.all(this.#ports.map((port) => host.readPendingPeers(port)))).flat();
      const at = clock.now();
      this.#suspects = judgeLook(this.#suspects, { peers, at, previousAt: this.#lookedAt });
      this.#lookedAt = at;
      this.#hasFailed = false;
    } catch (error) {
      // The suspects stay: before one is cut the host checks it again.
      if (!this.#hasFailed) log.warn(`connections cannot be watched: ${String(error)}`);
      this.#hasFailed = true;
    } finally {
      this.#isLooking = false;
    }
  }

  /** The host checks once more whether each of them is the same connection and still without progress. */
  #cut(peers: readonly PendingPeer[]): void {
    if (peers.length === 0 || this.#ports.length === 0) return;
    const cut = this.#options.host.cutPeers(peers.slice(0, MAX_CUT_PER_TURN));
    if (cut > 0) this.#options.log.debug(`${cut} connections cut: nothing acknowledged for too long`);
    if (peers.length > MAX_CUT_PER_TURN)
      this.#options.clock.setTimer(() => this.#cut(peers.slice(MAX_CUT_PER_TURN)), 0);
  }
}
