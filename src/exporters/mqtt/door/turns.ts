/** How many messages are taken: 20 per second, 40 at once. */
import type { Clock } from '../../../clock.ts';

const PER_SECOND = 20;
const BURST = 40;

export class Turns {
  readonly #clock: Pick<Clock, 'now'>;
  #fullAtMs = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Whether one more message is taken now. */
  take(): boolean {
    const now = this.#clock.now();
    const fullAtMs = Math.max(this.#fullAtMs, now) + 1000 / PER_SECOND;
    const isGranted = fullAtMs - now <= (BURST * 1000) / PER_SECOND;
    if (isGranted) this.#fullAtMs = fullAtMs;
    return isGranted;
  }
}
