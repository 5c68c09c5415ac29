/**
 * Hands connections of uWebSockets.js over. It names no descriptor, and its response is another object than that of its
 * filter; but `pause` makes the poll handle of the connection inactive and `resume` active again, which the addon sees.
 * In batches, because looking at all handles takes 20 to 30 ns for each.
 */
import { deferToNextTurn } from '../../clock.ts';
import type { PausedPolls } from '../../host/streams.ts';
import type { Taker } from '../engine.ts';

/** The part of uWebSockets.js's response that this takes. */
export interface PausedResponse {
  /** Stops polling the connection. */
  pause(): unknown;
  /** Polls it again as before the last `pause` of any connection. */
  resume(): unknown;
  /** Closes the connection; the duplicate of its descriptor lives on. */
  close(): unknown;
}

const BATCH = 128;
/** Until a connection is looked at again of whose earlier answers the kernel has not sent all. */
const RETRY_MS = 50;

export class Waiting {
  readonly taker: Taker;
  /** undefined: it was taken, or its peer has gone. */
  response: PausedResponse | undefined;

  constructor(response: PausedResponse, taker: Taker) {
    this.response = response;
    this.taker = taker;
  }

  /** Its connection has closed. */
  markGone(): void {
    if (this.response === undefined) return;
    this.response = undefined;
    this.taker.onGone();
  }

  cut(): void {
    deferToNextTurn(() => this.response?.close());
  }
}

export class HandOvers {
  readonly #polls: PausedPolls;
  #waiting: Waiting[] = [];
  #isScheduled = false;

  constructor(polls: PausedPolls) {
    this.#polls = polls;
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Its turn may close connections, which no turn of `setImmediate` may (clock.ts).
    deferToNextTurn(() => {
      this.#isScheduled = false;
      this.#handOver(this.#waiting.splice(0, BATCH).filter(({ response }) => response !== undefined));
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #handOver(batch: readonly Waiting[]): void {
    for (const { response } of batch) response?.pause();
    this.#polls.look();
    for (const waiting of batch) {
      waiting.response?.resume();
      this.#give(waiting, this.#polls.takeResumed());
    }
  }

  #give(waiting: Waiting, descriptor: number | undefined): void {
    const { response, taker } = waiting;
    if (response === undefined) return;
    if (descriptor === undefined) {
      waiting.response = undefined;
      taker.onRefused();
    } else if (this.#polls.hasPending(descriptor)) {
      // uWebSockets.js may hold more of an earlier answer: it would follow what the writer sends.
      setTimeout(() => {
        if (waiting.response !== undefined) this.add(waiting);
      }, RETRY_MS).unref();
    } else {
      try {
        taker.take(descriptor, 'chunked');
        waiting.response = undefined;
      } catch {
        // No descriptor is left, or the service ends: closing it reports that it has gone.
      }
      response.close();
    }
  }
}
