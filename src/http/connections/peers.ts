/**
 * Cuts connections whose peer acknowledges nothing: gone without a word, or alive and not reading. The kernel's own
 * timer for that, TCP_USER_TIMEOUT, adds up the stalls of a reader that stalls now and then, and cuts it too early.
 */
import type { Clock } from '../../clock.ts';
import type { Host, PendingPeer } from '../../host/host.ts';
import type { Log } from '../../log.ts';

/** Without progress for so long: gone. */
export const SILENT_LIMIT_MS = 20_000;
/**
 * How often all connections are looked at. A look costs 1 µs of CPU a connection: this pause makes that 0.01 % of a core,
 * and with thousands of connections 0.5 % of what one event a second to each of them costs.
 */
const PAUSE_MS_A_CONNECTION = 10;
const LEAST_PAUSE_MS = 5000;
/** Less than the limit: the kernel tells at the first look how long a vanished peer has been silent. */
const MOST_PAUSE_MS = 15_000;
/** Cutting one takes some 5 µs; others wait meanwhile. */
const MOST_CUT_AT_ONCE = 500;

/** A connection with bytes pending. */
export interface Suspect {
  readonly peer: PendingPeer;
  /** Nothing was acknowledged from then on, while something was pending; or a moment later than that. */
  readonly since: number;
}

/** By cookie. */
export type Suspects = ReadonlyMap<bigint, Suspect>;

/** What a look at all connections found. */
export interface Look {
  readonly peers: readonly PendingPeer[];
  /** When it ended, and when the one before it did. */
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

/** Those of `suspects` whose time is up at `now`, and those whose time is not. Pure. */
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
  /** How many there are. */
  readonly connections: () => number;
  /** For tests: instead of SILENT_LIMIT_MS, and of the pause between two looks. */
  readonly limitMs?: number;
  readonly pauseMs?: number;
}

/** Looks at the connections of one port for as long as there are any. */
export class PeerWatch {
  readonly #options: PeerWatchOptions;
  readonly #limitMs: number;
  #port = 0;
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

  /** Begins to watch `port`; until then, and after `stop`, `wake` does nothing. */
  start(port: number): void {
    this.#port = port;
    this.wake();
  }

  stop(): void {
    this.#port = 0;
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  /** A connection was opened. */
  wake(): void {
    if (this.#port === 0 || this.#timer !== undefined || this.#isLooking) return;
    const now = this.#options.clock.now();
    // Nothing was pending as long as there was no connection.
    this.#lookedAt = now;
    this.#nextLookAt = now + this.#pauseMs();
    this.#sleepUntil(this.#nextLookAt);
  }

  #pauseMs(): number {
    const { pauseMs, connections } = this.#options;
    if (pauseMs !== undefined) return pauseMs;
    return Math.min(Math.max(LEAST_PAUSE_MS, PAUSE_MS_A_CONNECTION * connections()), MOST_PAUSE_MS);
  }

  #sleepUntil(at: number): void {
    const { clock } = this.#options;
    // Never busy, and many that fall due one after the other are cut together.
    const delayMs = Math.max(at - clock.now(), Math.min(500, this.#pauseMs()));
    this.#timer = clock.setTimer(() => {
      this.#timer = undefined;
      void this.#turn();
    }, delayMs);
  }

  async #turn(): Promise<void> {
    const { clock, connections } = this.#options;
    if (connections() === 0) {
      this.#suspects = new Map();
      return;
    }
    if (clock.now() >= this.#nextLookAt) await this.#look();
    if (this.#port === 0) return;
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
      const peers = await host.readPendingPeers(this.#port);
      const at = clock.now();
      this.#suspects = judgeLook(this.#suspects, { peers, at, previousAt: this.#lookedAt });
      this.#lookedAt = at;
      this.#hasFailed = false;
    } catch (error) {
      // What is known stays known: cutting asks again whether it is still so.
      if (!this.#hasFailed) log.warn(`connections can't be looked at: ${String(error)}`);
      this.#hasFailed = true;
    } finally {
      this.#isLooking = false;
    }
  }

  /** The host asks again, at that moment, whether each of them is still the same and still without progress. */
  #cut(peers: readonly PendingPeer[]): void {
    if (peers.length === 0 || this.#port === 0) return;
    const cut = this.#options.host.cutPeers(peers.slice(0, MOST_CUT_AT_ONCE));
    if (cut > 0) this.#options.log.debug(`${cut} connections cut: nothing acknowledged for too long`);
    if (peers.length > MOST_CUT_AT_ONCE)
      this.#options.clock.setTimer(() => this.#cut(peers.slice(MOST_CUT_AT_ONCE)), 0);
  }
}
