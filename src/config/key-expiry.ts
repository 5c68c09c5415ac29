/** Reports that keys have expired, so that what they opened is ended. */
import { endOf, type KeySettings } from '../access/key.ts';

export interface ExpiryClock {
  /** Milliseconds of Unix time. */
  readonly now: () => number;
  /** Milliseconds that passed, however the clock was set. */
  readonly passed: () => number;
  readonly setTimer: (fire: () => void, delayMs: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
}

const SYSTEM_CLOCK: ExpiryClock = {
  now: () => Date.now(),
  passed: () => performance.now(),
  setTimer: (fire, delayMs) => setTimeout(fire, delayMs).unref(),
  // Only handles that setTimer returned are ever passed.
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

/** Timers do not count suspended time, and the clock may be set: it is looked at this often while there are keys that end. */
const LOOK_MS = 5000;
/** A clock that went back by less was slewed, or rounded. */
const MIN_SET_BACK_MS = 1000;

type Keys = Readonly<Record<string, Pick<KeySettings, 'expires'>>>;

export class KeyExpiry {
  readonly #clock: ExpiryClock;
  readonly #onExpired: (names: readonly string[]) => void;
  /** The keys that do not live for ever. */
  #ends: readonly { readonly name: string; readonly endsAtMs: number }[] = [];
  /** The last look; what ended before it was reported, or has opened nothing. */
  #last: { readonly nowMs: number; readonly passedMs: number };
  #timer: unknown;

  constructor(onExpired: (names: readonly string[]) => void, clock = SYSTEM_CLOCK) {
    this.#onExpired = onExpired;
    this.#clock = clock;
    this.#last = { nowMs: clock.now(), passedMs: clock.passed() };
  }

  /** Follows these keys from now on; reports those of them that have ended since the last look. */
  follow(keys: Keys): void {
    this.#ends = Object.entries(keys)
      .map(([name, key]) => ({ name, endsAtMs: endOf(key) }))
      .filter(({ endsAtMs }) => endsAtMs !== Number.POSITIVE_INFINITY);
    this.#look();
  }

  close(): void {
    this.#clock.clearTimer(this.#timer);
  }

  #look(): void {
    const { now, passed, setTimer, clearTimer } = this.#clock;
    const [nowMs, passedMs] = [now(), passed()];
    const { nowMs: lastMs, passedMs: lastPassedMs } = this.#last;
    this.#last = { nowMs, passedMs };
    // The earliest moment that the clock has shown since: where it was set back, keys may have lived again.
    const sinceMs = Math.min(lastMs, nowMs - (passedMs - lastPassedMs) + MIN_SET_BACK_MS);
    const expired = this.#ends.filter(({ endsAtMs }) => endsAtMs > sinceMs && endsAtMs <= nowMs);
    const waitMs = this.#ends.reduce(
      (least, { endsAtMs }) => (endsAtMs > nowMs ? Math.min(least, endsAtMs - nowMs) : least),
      LOOK_MS,
    );
    clearTimer(this.#timer);
    if (this.#ends.length > 0) this.#timer = setTimer(() => this.#look(), waitMs);
    if (expired.length > 0) this.#onExpired(expired.map(({ name }) => name));
  }
}
