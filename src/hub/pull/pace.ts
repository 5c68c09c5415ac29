/**
 * Limits what an agent makes the hub do on one connection: an agent that sends as fast as the network takes it would have
 * the loop to itself. A service sends an event per second at most, and a comment after 15 s of silence.
 */
import { Allowance, type Rate } from '../../allowance.ts';
import { BadAnswer } from './answer.ts';

/** Events and comments: what waited in a network that was cut arrives together. */
const EVENTS: Rate = { perSecond: 20, burst: 200 };
/** A sample of the largest machine has 0.7 MB, the longest event 1 MiB, the longest answer 4 MiB. */
const BYTES: Rate = { perSecond: 2 * 2 ** 20, burst: 8 * 2 ** 20 };
/**
 * Each read and each chunk counts as this many bytes more, because it takes that much work. An answer of 4 MiB in
 * segments of 1,460 bytes counts as 5.4 MiB.
 */
const PIECE_BYTES = 512;

/** The agent is left alone for a while. */
export class Flood extends BadAnswer {}

export class AgentPace {
  readonly #now: () => number;
  #events: Allowance | undefined;
  readonly #bytes: Allowance;

  constructor(now: () => number) {
    this.#now = now;
    this.#bytes = new Allowance(BYTES, now());
  }

  /** Counts a read or a chunk. Throws Flood. */
  takePiece(bytes = 0): void {
    if (this.#bytes.take(bytes + PIECE_BYTES, this.#now()) < 0)
      throw new Flood('it sends more bytes, or in smaller pieces, than an agent does');
  }

  /** Counts an event or a comment. Throws Flood. */
  takeEvent(): void {
    const nowMs = this.#now();
    this.#events ??= new Allowance(EVENTS, nowMs);
    if (this.#events.take(1, nowMs) < 0) throw new Flood('it sends more events than an agent does');
  }
}
