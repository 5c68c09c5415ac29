/**
 * When the calls of one machine are sent: one of each client in turn, as many at a time and per second as a machine takes. So
 * what waits, waits here in fair order, and the machine refuses nothing.
 */
import type { Caller } from '../access/caller.ts';
import type { Clock } from '../clock.ts';
import { type Clients, FairQueue } from '../fairness/fair-queue.ts';
import { Places } from '../fairness/places.ts';

export interface Turn {
  readonly who: Caller;
  /** Sends it. */
  readonly begin: () => void;
  /** Too much waits, and its client has most of it. */
  readonly drop: () => void;
}

/** How many are sent per second, and together after a rest: less than the machine takes, because messages may bunch up. */
export interface CallPace {
  readonly perSecond: number;
  readonly burst: number;
}

export class CallTurns {
  readonly #clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  readonly #pace: () => CallPace;
  readonly #waiting: FairQueue<Turn>;
  readonly #running = new Set<Turn>();
  readonly #capacity: Places;
  #fullAtMs = 0;
  #timer: unknown;

  constructor(
    clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>,
    { max, waiting }: { readonly max: number; readonly waiting: number },
    pace: () => CallPace,
  ) {
    this.#clock = clock;
    this.#pace = pace;
    this.#waiting = new FairQueue(waiting);
    this.#capacity = new Places(max);
  }

  /** Nothing waits or runs, and a whole burst may be sent. */
  get isIdle(): boolean {
    return this.#waiting.size + this.#running.size === 0 && this.#fullAtMs <= this.#clock.now();
  }

  /** Begins it now or later. */
  add(turn: Turn, clients: Clients): void {
    this.#waiting.add(turn, clients)?.drop();
    this.#advance();
  }

  /** It is over, or no longer wanted. */
  end(turn: Turn): void {
    this.#waiting.remove(turn);
    if (this.#running.delete(turn)) this.#capacity.remove(turn.who);
    this.#advance();
  }

  /** Nothing that waits is begun any more. */
  clear(): void {
    for (const turn of [...this.#waiting]) this.#waiting.remove(turn);
  }

  #advance(): void {
    while (this.#waiting.size > 0) {
      const waitMs = this.#waitMs();
      if (waitMs > 0) {
        this.#advanceIn(waitMs);
        return;
      }
      const next = this.#waiting.take(({ who }) => this.#capacity.hasCapacity(who));
      if (next === undefined) return;
      this.#fullAtMs = Math.max(this.#fullAtMs, this.#clock.now()) + 1000 / this.#pace().perSecond;
      this.#running.add(next);
      this.#capacity.add(next.who);
      next.begin();
    }
  }

  /** Until one more may be sent. */
  #waitMs(): number {
    const { perSecond, burst } = this.#pace();
    return this.#fullAtMs - this.#clock.now() - ((burst - 1) * 1000) / perSecond;
  }

  #advanceIn(waitMs: number): void {
    this.#timer ??= this.#clock.setTimer(() => {
      this.#timer = undefined;
      this.#advance();
    }, waitMs);
  }
}
