/**
 * Cuts the body of an agent's event stream into events. It takes only what the service sends (one `data: {…}` line or
 * one comment line, then a blank line) and what a proxy does not change; anything else is refused.
 */
import { PieceBuffer } from '../../piece-buffer.ts';
import { BadAnswer } from './answer.ts';

/** As long as a message of machines that dial in; a sample of the largest one (601 interfaces, 1,500 mounts) has 0.7 MB. */
export const MAX_EVENT_BYTES = 2 ** 20;
const LF = 10;
const CR = 13;
const COLON = 58;
const BEGIN = Buffer.from('data: {');
const END = Buffer.from('}\n\n');

export class EventSplitter {
  readonly #onEvent: (event: Buffer) => void;
  readonly #onBlock: () => void;
  /** The beginning of an incomplete line and its blank line. */
  readonly #kept = new PieceBuffer();

  /**
   * `onEvent` gets each event with its `data: ` and its blank line, in bytes of its own. `onBlock` is called before it, and
   * for each comment; it may throw.
   */
  constructor(onEvent: (event: Buffer) => void, onBlock: () => void = () => undefined) {
    this.#onEvent = onEvent;
    this.#onBlock = onBlock;
  }

  /** Memory for an incomplete event. */
  get keptBytes(): number {
    return this.#kept.keptBytes;
  }

  /** Throws BadAnswer. */
  push(bytes: Buffer, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const next = this.#endOf(bytes, at, end);
      if (next === undefined) {
        if (this.#kept.length + end - at > MAX_EVENT_BYTES)
          throw new BadAnswer('an event of the stream is too long');
        this.#kept.add(bytes, at, end);
        return;
      }
      this.#take(bytes, at, next);
      at = next;
    }
  }

  /** Where the block that begins at `at`, or began in what is kept, ends; undefined: not in these bytes. */
  #endOf(bytes: Buffer, at: number, end: number): number | undefined {
    const { bytes: kept } = this.#kept;
    // Its line is complete, the blank one is not.
    if (kept.at(-1) === LF) {
      if (bytes[at] !== LF) throw new BadAnswer('an event of the stream has more than one line');
      return at + 1;
    }
    const line = bytes.indexOf(LF, at);
    if (line < 0 || line >= end - 1) return undefined;
    if (bytes[line + 1] !== LF) throw new BadAnswer('an event of the stream has more than one line');
    return line + 2;
  }

  #take(bytes: Buffer, at: number, end: number): void {
    this.#onBlock();
    const { bytes: kept, length } = this.#kept;
    this.#kept.clear();
    if ((length === 0 ? bytes[at] : kept[0]) === COLON) return;
    // Slow: a slice of Node's pool would keep 8 KiB of it as long as it is kept.
    const block = Buffer.allocUnsafeSlow(length + end - at);
    kept.copy(block);
    bytes.copy(block, length, at, end);
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
