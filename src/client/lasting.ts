/** A connection that lasts: watched while it is open, and made again after each loss, until it is closed or refused. */
import { type Environment, onAborted } from './environment.ts';
import { type ClientError, isRefusal, silent, unreachable } from './errors.ts';

export type ConnectionState =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  /** The connection was lost or failed; the next attempt follows after the delay. */
  | { readonly state: 'waiting'; readonly delayMs: number; readonly error: ClientError }
  /** Closed for good: with an error when the service refused, without one after `close()`. */
  | { readonly state: 'closed'; readonly error?: ClientError };

/** Whole ticks without a byte after which the peer counts as gone: with 15 s per tick, after 45 to 60 s. */
const MAX_SILENT_TICKS = 3;

/** Longest delay that a service or a proxy may ask for. */
const MAX_ASKED_MS = 300_000;

/** The delay before the next attempt: short at first, doubling, and randomised so that clients do not come in step. */
export class Backoff {
  readonly #environment: Environment;
  #failures = 0;
  #openedAtMs: number | undefined;
  /** The minimum delay that the stream's `retry` field asks for. */
  atLeastMs = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  opened(): void {
    this.#openedAtMs = this.#environment.now();
  }

  /** The delay before the next attempt: half to all of the current step, and at least `askedMs` plus up to a quarter. */
  next(askedMs = 0): number {
    const { now, random, timing } = this.#environment;
    if (this.#openedAtMs !== undefined && now() - this.#openedAtMs >= timing.healthyMs) this.#failures = 0;
    this.#openedAtMs = undefined;
    const step = Math.min(timing.maxDelayMs, timing.initialDelayMs * 2 ** this.#failures++);
    const asked = Math.min(MAX_ASKED_MS, Math.max(askedMs, this.atLeastMs));
    return Math.max(step * (1 - random() / 2), asked * (1 + random() / 4));
  }
}

export abstract class Lasting {
  protected readonly environment: Environment;
  protected readonly backoff: Backoff;
  #state: ConnectionState = { state: 'connecting' };
  #stopListening: () => void = () => undefined;
  /** The time limit of an attempt, the delay before the next one, or the tick of an open connection. */
  #timer: unknown;
  #silentTicks = 0;

  constructor(environment: Environment) {
    this.environment = environment;
    this.backoff = new Backoff(environment);
  }

  /** Begins an attempt to connect. */
  protected abstract attempt(): void;
  /** Drops the attempt or the connection. With `error`, `lost` is called next; without, it is closed. */
  protected abstract drop(error?: ClientError): void;
  protected abstract onState(state: ConnectionState): void;
  /** Called after a tick in which nothing arrived. */
  protected onSilence(): void {}

  get state(): ConnectionState {
    return this.#state;
  }

  /** Closes the connection for good. */
  close(): void {
    this.end();
  }

  protected get isClosed(): boolean {
    return this.#state.state === 'closed';
  }

  /** Starts to connect, in a later turn: the caller gets the object before any callback is called. */
  protected async start(signal: AbortSignal | undefined, ready?: Promise<unknown>): Promise<void> {
    this.#stopListening = onAborted(signal, () => this.close());
    if (signal?.aborted === true) return this.close();
    try {
      await ready;
    } catch (error) {
      return this.end(unreachable(error));
    }
    this.#connect();
  }

  protected end(error?: ClientError): void {
    if (this.isClosed) return;
    this.#state = error === undefined ? { state: 'closed' } : { state: 'closed', error };
    this.#stopListening();
    this.environment.clearTimer(this.#timer);
    this.drop();
    this.onState(this.#state);
  }

  /** The attempt has succeeded. */
  protected opened(): void {
    this.backoff.opened();
    this.#silentTicks = 0;
    this.#tick();
    this.#setState({ state: 'open' });
  }

  /** Something arrived. */
  protected heard(): void {
    this.#silentTicks = 0;
  }

  /** The attempt has failed, or the connection is lost: the next attempt follows, unless it would be refused. */
  protected lost(error: ClientError): void {
    if (this.isClosed) return;
    if (isRefusal(error)) {
      this.end(error);
      return;
    }
    const delayMs = this.backoff.next(error.retryAfterMs);
    this.arm(() => this.#connect(), delayMs);
    this.#setState({ state: 'waiting', delayMs, error });
  }

  /** Sets the one timer. */
  protected arm(fire: () => void, delayMs: number): void {
    this.environment.clearTimer(this.#timer);
    this.#timer = this.environment.setTimer(fire, delayMs);
  }

  #connect(): void {
    if (this.isClosed) return;
    this.arm(() => this.drop(unreachable()), this.environment.timing.connectMs);
    this.#setState({ state: 'connecting' });
    if (!this.isClosed) this.attempt();
  }

  #setState(state: ConnectionState): void {
    this.#state = state;
    this.onState(state);
  }

  /**
   * Counts ticks instead of reading a clock: after a suspend, or when a browser delayed the page's timers, a single late
   * tick means little, and bytes that arrived before it are processed before the next.
   */
  #tick(): void {
    this.arm(() => {
      this.#tick();
      // The tick in which something arrived was not wholly silent.
      const ticks = this.#silentTicks++;
      if (ticks >= MAX_SILENT_TICKS) this.drop(silent());
      else if (ticks > 0) this.onSilence();
    }, this.environment.timing.tickMs);
  }
}
