/**
 * The commands that were done, so that none is done twice. A broker delivers a message again after an outage, and its
 * sender sends it again: as a new message, which only its content shows.
 */
import { createHash } from 'node:crypto';
import { REMEMBERED } from '../../../fairness/limits.ts';
import type { Message } from '../../../mqtt/line.ts';

/** A message without an id is a duplicate if it is equal to one of so long before the outage, and comes so soon after it. */
const AROUND_OUTAGE_MS = 60_000;

interface Done {
  readonly digest: string;
  readonly atMs: number;
  /** The connection that it came by. */
  readonly era: number;
}

const digestOf = (topic: string, payload: Buffer) =>
  createHash('sha256').update(topic).update('\0').update(payload).digest('base64');

const keyOf = (topic: string, id: string | number) => JSON.stringify([topic, id]);

export class RecentCommands {
  readonly #ids = new Set<string>();
  readonly #done: Done[] = [];
  #era = 0;
  #beganAtMs = Number.NEGATIVE_INFINITY;

  /** A connection was made. */
  begin(nowMs: number): void {
    this.#era++;
    this.#beganAtMs = nowMs;
  }

  /** Whether this message, with or without an `id`, was done before. */
  isKnown({ topic, payload, qos }: Message, id: string | number | undefined, nowMs: number): boolean {
    if (id !== undefined) return this.#ids.has(keyOf(topic, id));
    if (qos === 0 || nowMs - this.#beganAtMs > AROUND_OUTAGE_MS) return false;
    const at = this.#findRepeated(digestOf(topic, payload));
    // A redelivery is matched once; a later equal message is a new command.
    if (at !== -1) this.#done.splice(at, 1);
    return at !== -1;
  }

  /** This message is being done. */
  note({ topic, payload, qos }: Message, id: string | number | undefined, nowMs: number): void {
    if (id !== undefined) {
      this.#ids.add(keyOf(topic, id));
      // A set keeps the order in which its values came.
      const [oldest] = this.#ids;
      if (this.#ids.size > REMEMBERED.brokerCommands && oldest !== undefined) this.#ids.delete(oldest);
    } else if (qos > 0) {
      this.#done.push({ digest: digestOf(topic, payload), atMs: nowMs, era: this.#era });
      if (this.#done.length > REMEMBERED.brokerCommands) this.#done.shift();
    }
  }

  #findRepeated(digest: string): number {
    const since = this.#beganAtMs - AROUND_OUTAGE_MS;
    return this.#done.findIndex(
      (done) => done.digest === digest && done.era < this.#era && done.atMs >= since,
    );
  }
}
