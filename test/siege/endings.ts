/** Whether the service ended, or answered, the connections of which an attack expects it, and how soon. */
import type net from 'node:net';

/** How the expectations of one attack ended. Sent to other processes as JSON. */
export interface EndingReport {
  /** Connections of which an end or an answer was due while the attack ran. */
  readonly due: number;
  /** Connections among them that had neither in time. */
  readonly overdue: number;
  /** The slowest of those in time, in seconds. */
  readonly slowestSeconds: number;
}

/** `answer`: the first byte that the service sends is as good as an end. */
export type Expectation = 'end' | 'answer';

interface Expected {
  readonly sinceMs: number;
  readonly dueMs: number;
}

export class Endings {
  /** Expectations that are still open. Met ones are only counted: an attack may open 10,000 connections per second. */
  readonly #expected = new Map<net.Socket, Expected>();
  #met = 0;
  #late = 0;
  #slowestMs = 0;
  #isOver = false;

  /** Reads `socket`, because a connection that is not read does not show its end. */
  expect(socket: net.Socket, seconds: number, what: Expectation = 'end'): void {
    const sinceMs = performance.now();
    const expected: Expected = { sinceMs, dueMs: sinceMs + seconds * 1000 };
    this.#expected.set(socket, expected);
    const meet = () => this.#meet(socket, expected);
    if (socket.destroyed) {
      meet();
      return;
    }
    // A service that has sent its FIN has ended it, though the attacker may still have bytes to send.
    socket.once('end', meet).once('close', meet);
    if (what === 'answer') socket.once('data', meet);
    socket.resume();
  }

  /** Expects nothing of `socket` any more. */
  forget(socket: net.Socket): void {
    this.#expected.delete(socket);
  }

  #meet(socket: net.Socket, expected: Expected): void {
    if (this.#isOver || !this.#expected.delete(socket)) return;
    const tookMs = performance.now() - expected.sinceMs;
    this.#met++;
    if (performance.now() > expected.dueMs) this.#late++;
    else this.#slowestMs = Math.max(this.#slowestMs, tookMs);
  }

  /** Call it before the attack closes its own connections; undefined: nothing was expected. */
  report(): EndingReport | undefined {
    this.#isOver = true;
    const nowMs = performance.now();
    const open = [...this.#expected.values()].filter(({ dueMs }) => dueMs <= nowMs).length;
    const due = this.#met + open;
    if (due === 0) return undefined;
    return { due, overdue: this.#late + open, slowestSeconds: this.#slowestMs / 1000 };
  }
}
