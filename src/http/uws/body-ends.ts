/** Ends of request bodies that wait until the reads that they arrived in have been parsed. */
import { deferToNextTurn } from '../../clock.ts';

export class BodyEnds {
  #waiting: (() => void)[] = [];

  /** Calls `report` in a later turn, or when the read of another connection begins. */
  add(report: () => void): void {
    if (this.#waiting.push(report) === 1) deferToNextTurn(() => this.reportAll());
  }

  /**
   * Called when a request or a part of a body is delivered: the reads before it have been parsed. Otherwise all requests
   * that arrive in one turn would wait for each other, and count as waiting against the limit of their address.
   */
  reportAll(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const report of waiting) report();
  }
}
