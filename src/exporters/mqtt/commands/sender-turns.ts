/** How many messages are taken of each sender: 20 per second, 40 that come together. */
import type { Clock } from '../../../clock.ts';

const PER_SECOND = 20;
const BURST = 40;
/** Senders with a rate of their own; further ones share one. As many as there may be leases of hubs. */
const MAX_SENDERS = 16;

export class Turns {
  readonly #clock: Pick<Clock, 'now'>;
  /** By sender: when its whole burst is there again. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Whether one more message of `sender`, a hub, is taken now. */
  take(sender = ''): boolean {
    const now = this.#clock.now();
    const name = this.#nameOf(sender, now);
    const fullAtMs = Math.max(this.#fullAtMs.get(name) ?? 0, now) + 1000 / PER_SECOND;
    const isGranted = fullAtMs - now <= (BURST * 1000) / PER_SECOND;
    if (isGranted) this.#fullAtMs.set(name, fullAtMs);
    return isGranted;
  }

  #nameOf(sender: string, now: number): string {
    if (this.#fullAtMs.has(sender) || this.#fullAtMs.size < MAX_SENDERS) return sender;
    for (const [name, fullAtMs] of this.#fullAtMs) if (fullAtMs <= now) this.#fullAtMs.delete(name);
    return this.#fullAtMs.size < MAX_SENDERS ? sender : OTHERS;
  }
}

/** Not a name of a hub. */
const OTHERS = '*';
