/**
 * Limits what one machine that dials in makes the hub do, over all its connections: a new connection after a flood has no
 * new burst.
 */
import { Bucket, type RateLimit } from '../../../fairness/rate.ts';

/**
 * Messages, parts of messages, pings and pongs. An agent with three viewers, detail, all topics and a sample per second
 * sends 2.3 per second (8 KiB), and never more than 16: it leaves 0.2 s between two messages on one topic.
 */
const FRAMES: RateLimit = { perSecond: 20, burst: 400 };
/** A sample of the largest machine, plain and with detail, has 1 MiB. */
const BYTES: RateLimit = { perSecond: 2 * 2 ** 20, burst: 8 * 2 ** 20 };
/** Frames allowed per request of the hub: an answer of 1 MiB in 22 parts, or the stages of a command. */
const ANSWER_FRAMES = 32;
const ANSWER_BYTES = 1.25 * 2 ** 20;
/** Requests that wait for their answers (broker/calls.ts). */
const MAX_REQUESTS = 32;
/** A machine that was cut is taken again with this many frames, after 2 s. */
const MIN_FRAMES = 40;

export class DialPace {
  readonly #frames: Bucket;
  readonly #bytes: Bucket;

  constructor(nowMs: number) {
    this.#frames = new Bucket(FRAMES, nowMs);
    this.#bytes = new Bucket(BYTES, nowMs);
  }

  /** Counts a frame; false: it is one too many. */
  take(bytes: number, nowMs: number): boolean {
    const frames = this.#frames.take(1, nowMs);
    return this.#bytes.take(bytes, nowMs) >= 0 && frames >= 0;
  }

  /** A request was sent to the agent. */
  expectAnswer(): void {
    this.#frames.grant(ANSWER_FRAMES, FRAMES.burst + MAX_REQUESTS * ANSWER_FRAMES);
    this.#bytes.grant(ANSWER_BYTES, BYTES.burst + MAX_REQUESTS * ANSWER_BYTES);
  }

  /** Whether too little is left for another connection. */
  isSpent(nowMs: number): boolean {
    return this.#frames.take(0, nowMs) < MIN_FRAMES || this.#bytes.take(0, nowMs) < 0;
  }
}
