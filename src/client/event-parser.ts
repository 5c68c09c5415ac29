/** Parses text/event-stream as the HTML standard defines it, from chunks split anywhere. */
import { tooLarge } from './errors.ts';
import { MAX_ANSWER, PIECE_BYTES } from './limits.ts';

export interface ParsedEvent {
  /** `message` where the stream does not name one. */
  readonly type: string;
  readonly data: string;
}

const LINE_END = /\r\n?|\n/g;

export class EventParser {
  /** Buffers an incomplete character, and drops a byte order mark at the start of the stream. */
  readonly #decoder = new TextDecoder();
  /** The start of an incomplete line. */
  #line = '';
  /** The last line ended with CR, so an LF that follows belongs to it. */
  #mayStartWithLf = false;
  #type = '';
  #data: string[] = [];
  /** The newest `retry` field, in milliseconds. */
  retryMs: number | undefined;
  /**
   * Bytes that were received since the incomplete event or line began, comments included: parts of them are kept, and V8
   * keeps a whole piece for a part of it.
   */
  pending = 0;

  /** Returns the events that `bytes` completes. Throws `too_large` when more than MAX_ANSWER is pending. */
  push(bytes: Uint8Array): readonly ParsedEvent[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    const events: ParsedEvent[] = [];
    // After a CR at the end of the last piece.
    let start = this.#mayStartWithLf && text.startsWith('\n') ? 1 : 0;
    if (text !== '') this.#mayStartWithLf = text.endsWith('\r');
    LINE_END.lastIndex = start;
    for (let match = LINE_END.exec(text); match !== null; match = LINE_END.exec(text)) {
      const event = this.#take(this.#line + text.slice(start, match.index));
      if (event !== undefined) events.push(event);
      this.#line = '';
      start = LINE_END.lastIndex;
    }
    this.#line += text.slice(start);
    if (this.#line === '' && this.#data.length === 0) this.pending = 0;
    else this.pending += bytes.length + PIECE_BYTES;
    if (this.pending > MAX_ANSWER) throw tooLarge('an event');
    return events;
  }

  #take(line: string): ParsedEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#type = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #dispatch(): ParsedEvent | undefined {
    const type = this.#type === '' ? 'message' : this.#type;
    const data = this.#data;
    this.#type = '';
    if (data.length === 0) return undefined;
    this.#data = [];
    this.pending = 0;
    return { type, data: data.join('\n') };
  }
}
