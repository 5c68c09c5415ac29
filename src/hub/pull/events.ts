/**
 * Cuts the body of an agent's event stream into events. It takes only what the service sends (one `data: {…}` line or
 * one comment line, then a blank line) and what a proxy does not change; anything else is refused.
 */
import { BadAnswer } from './answer.ts';

/** Far above a sample of the largest machine (601 interfaces, 1,500 mounts: 0.7 MB). */
export const MAX_EVENT_BYTES = 4 * 2 ** 20;
const LF = 10;
const CR = 13;
const COLON = 58;
const BEGIN = Buffer.from('data: {');
const END = Buffer.from('}\n\n');

export class EventSplitter {
  readonly #onEvent: (event: Buffer) => void;
  /** The beginning of an incomplete line and its blank line. */
  #kept: Buffer[] = [];
  #keptBytes = 0;

  /** `onEvent` gets each event with its `data: ` and its blank line, in bytes of its own. */
  constructor(onEvent: (event: Buffer) => void) {
    this.#onEvent = onEvent;
  }

  /** Throws BadAnswer. */
  push(bytes: Buffer, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const next = this.#endOf(bytes, at, end);
      if (next === undefined) {
        this.#keep(bytes, at, end);
        return;
      }
      this.#take(bytes, at, next);
      at = next;
    }
  }

  /** Where the block that begins at `at`, or began in what is kept, ends; undefined: not in these bytes. */
  #endOf(bytes: Buffer, at: number, end: number): number | undefined {
    const last = this.#kept.at(-1);
    // Its line is complete, the blank one is not.
    if (last !== undefined && last[last.length - 1] === LF) {
      if (bytes[at] !== LF) throw new BadAnswer('an event of the stream has more than one line');
      return at + 1;
    }
    const line = bytes.indexOf(LF, at);
    if (line < 0 || line >= end - 1) return undefined;
    if (bytes[line + 1] !== LF) throw new BadAnswer('an event of the stream has more than one line');
    return line + 2;
  }

  #keep(bytes: Buffer, at: number, end: number): void {
    this.#keptBytes += end - at;
    if (this.#keptBytes > MAX_EVENT_BYTES) throw new BadAnswer('an event of the stream is too long');
    const copy = Buffer.allocUnsafeSlow(end - at);
    bytes.copy(copy, 0, at, end);
    this.#kept.push(copy);
  }

  #take(bytes: Buffer, at: number, end: number): void {
    const [first = bytes] = this.#kept;
    if (this.#keptBytes === 0 && bytes[at] === COLON) return;
    // Slow: a slice of Node's pool would keep 8 KiB of it as long as it is kept.
    const block = Buffer.allocUnsafeSlow(this.#keptBytes + end - at);
    let to = 0;
    for (const part of this.#kept) to += part.copy(block, to);
    bytes.copy(block, to, at, end);
    this.#kept = [];
    this.#keptBytes = 0;
    if (first !== bytes && first[0] === COLON) return;
    const isEvent =
      block.length >= BEGIN.length + END.length &&
      block.length <= MAX_EVENT_BYTES &&
      BEGIN.compare(block, 0, BEGIN.length) === 0 &&
      END.compare(block, block.length - END.length) === 0 &&
      !block.includes(CR);
    if (!isEvent) throw new BadAnswer('something on the stream is no event of a sample');
    this.#onEvent(block);
  }
}
