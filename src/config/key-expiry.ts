/** Reports that keys have expired, so that what they opened is ended. */
import { endOf, type KeySettings } from '../access/key.ts';

export interface ExpiryClock {
  /** Milliseconds of Unix time. */
  readonly now: () => number;
  readonly setTimer: (fire: () => void, delayMs: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
}

const SYSTEM_CLOCK: ExpiryClock = {
  now: () => Date.now(),
  setTimer: (fire, delayMs) => setTimeout(fire, delayMs).unref(),
  // Only handles that setTimer returned are ever passed.
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

/** Timers do not count suspended time, and the clock may be set: it is looked at this often. */
const MAX_WAIT_MS = 60_000;

type Keys = Readonly<Record<string, Pick<KeySettings, 'expires'>>>;

export class KeyExpiry {
  readonly #clock: ExpiryClock;
  readonly #onExpired: (names: readonly string[]) => void;
  #keys: Keys = {};
  /** The keys that had not expired when they were last looked at. */
  #living: readonly string[] = [];
  #timer: unknown;

  constructor(onExpired: (names: readonly string[]) => void, clock = SYSTEM_CLOCK) {
    this.#onExpired = onExpired;
    this.#clock = clock;
  }

  /** Follows these keys from now on. */
  follow(keys: Keys): void {
    this.#keys = keys;
    this.#living = this.#listLiving();
    this.#plan();
  }

  close(): void {
    this.#clock.clearTimer(this.#timer);
  }

  #listLiving(): readonly string[] {
    const now = this.#clock.now();
    return Object.entries(this.#keys).flatMap(([name, key]) => (endOf(key) > now ? [name] : []));
  }

  #plan(): void {
    const { now, setTimer, clearTimer } = this.#clock;
    clearTimer(this.#timer);
    const ends = this.#living.map((name) => endOf(this.#keys[name] ?? {}));
    const waitMs = Math.min(...ends) - now();
    if (waitMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimer(() => this.#look(), Math.min(waitMs, MAX_WAIT_MS));
  }

  #look(): void {
    const living = this.#listLiving();
    const expired = this.#living.filter((name) => !living.includes(name));
    this.#living = living;
    this.#plan();
    if (expired.length > 0) this.#onExpired(expired);
  }
}
