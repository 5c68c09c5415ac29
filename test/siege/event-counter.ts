/** Counts the events that begin in a stream, split anywhere: as bytes, because an event of a hub may have megabytes. */
const NOTHING = Buffer.alloc(0);
const EVENT = Buffer.from('data: {');
/** Bytes of a beginning that is not whole. */
const MAX_REST = EVENT.length - 1;

export class EventCounter {
  #rest = NOTHING;

  /** Returns how many beginnings are complete with `bytes`. */
  take(bytes: Buffer): number {
    // A beginning that crosses the border: neither side of it is long enough for another.
    const border = Buffer.concat([this.#rest, bytes.subarray(0, MAX_REST)]);
    let count = this.#rest.length > 0 && border.includes(EVENT) ? 1 : 0;
    for (let at = bytes.indexOf(EVENT); at >= 0; at = bytes.indexOf(EVENT, at + 1)) count++;
    this.#rest = Buffer.concat([this.#rest, bytes.subarray(-MAX_REST)]).subarray(-MAX_REST);
    return count;
  }
}
