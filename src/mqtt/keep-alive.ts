/**
 * Whether the broker still answers. A network that was cut closes no connection, and TCP repeats what it has sent more and more
 * seldom: after 30 s the next attempt is up to 20 s away. Real time, which is what the network takes.
 */

/** For anything from the broker, after it was asked. */
const ANSWER_MS = 4000;

export class KeepAlive {
  readonly #answerMs: number;
  #heardAtMs = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(answerMs = ANSWER_MS) {
    this.#answerMs = answerMs;
  }

  /** Since the last byte. */
  get quietMs(): number {
    return performance.now() - this.#heardAtMs;
  }

  /** Bytes came. */
  heard(): void {
    this.#heardAtMs = performance.now();
    this.stop();
  }

  /** Calls `ask`, and `onSilence` unless something comes in time. Does nothing while an answer is waited for. */
  check(ask: () => void, onSilence: () => void): void {
    if (this.#timer !== undefined) return;
    // After a stop of this process the timer fires before the bytes that have come since are read.
    const look = () => setImmediate(() => this.#timer !== undefined && onSilence());
    this.#timer = setTimeout(look, this.#answerMs).unref();
    ask();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
