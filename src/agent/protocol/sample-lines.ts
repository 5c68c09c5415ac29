/**
 * A sample as an agent publishes it: lines that are members of JSON objects (docs/hub-protocol.md). They are joined to the event
 * of a viewer as they are: only the first line is parsed.
 */

import type { Section } from '../../host/host.ts';
import { isObject, parseJson } from '../../json.ts';

/** The reading of the agent's clock that stands in each of its messages. */
export interface Reading {
  readonly run: string;
  /** Milliseconds. */
  readonly clock: number;
}

/** Lines as an event, and where each of them is in it. */
export interface Joined {
  /** `data: {…}` and a blank line. */
  readonly event: Buffer;
  /** By the first key of the line; '' where it has several of no section. */
  readonly members: readonly { readonly key: string; readonly start: number; readonly end: number }[];
}

interface Head extends Reading {
  readonly plain: readonly Section[];
  /** Absent: nothing has detail. */
  readonly detail?: readonly Section[];
}

type Line = readonly [start: number, end: number];

const LF = 10;
const CR = 13;
const COMMA = 44;
const BEGIN = Buffer.from('data: {');
const END = Buffer.from('}\n\n');
const MAX_HEAD_BYTES = 1024;
const SECTIONS: ReadonlySet<unknown> = new Set<Section>(['cpu', 'memory', 'gpu', 'disks', 'network']);
const RUN = /^[\x21-\x7e]{1,64}$/;

export const isReading = ({ run, clock }: Readonly<Record<string, unknown>>): boolean =>
  typeof run === 'string' && RUN.test(run) && Number.isFinite(clock);

const isNames = (value: unknown): value is readonly Section[] =>
  Array.isArray(value) && value.every((name, at) => SECTIONS.has(name) && value.indexOf(name) === at);

export class SampleLines {
  readonly #payload: Buffer;
  readonly #lines: readonly Line[];
  readonly head: Head;

  private constructor(payload: Buffer, head: Head, lines: readonly Line[]) {
    this.#payload = payload;
    this.head = head;
    this.#lines = lines;
  }

  /** Returns undefined if it is not a sample. Does not check whether its lines are JSON. */
  static read(payload: Buffer): SampleLines | undefined {
    const headEnd = payload.indexOf(LF);
    // A CR would end a line of an event stream.
    if (headEnd < 0 || headEnd > MAX_HEAD_BYTES || payload.includes(CR, headEnd)) return undefined;
    const head = readHead(payload.toString('utf8', 0, headEnd));
    if (head === undefined) return undefined;
    const { plain, detail } = head;
    const count = 1 + plain.length + (detail === undefined ? 0 : 1 + detail.length);
    const lines: Line[] = [];
    // No further than to the first line too many: a payload of 1 MiB may have a million.
    for (let start = headEnd + 1; start <= payload.length && lines.length <= count; ) {
      const found = payload.indexOf(LF, start);
      const end = found < 0 ? payload.length : found;
      lines.push([start, end]);
      start = end + 1;
    }
    return lines.length === count ? new SampleLines(payload, head, lines) : undefined;
  }

  /** All lines of one form; undefined: the message has none of it. */
  join(withDetail: boolean): Joined | undefined {
    const { plain, detail } = this.head;
    if (!withDetail) return this.#join(['timestamp', ...plain], 1);
    if (detail === undefined) return undefined;
    const extras = 1 + plain.length;
    const [start = 0, end = 0] = this.#lines[extras] ?? [];
    // Where nothing was read beside the sections the line is empty.
    if (start === end) return this.#join(['timestamp', ...detail], extras + 1);
    return this.#join(['timestamp', '', ...detail], extras);
  }

  /** The line of the time, then those from `first` on, a key for each. */
  #join(keys: readonly string[], first: number): Joined {
    const lines = keys.map((_, at) => this.#lines[at === 0 ? 0 : first + at - 1] ?? [0, 0]);
    const length = lines.reduce((sum, [start, end]) => sum + end - start + 1, BEGIN.length - 1 + END.length);
    // Slow: a slice of Node's pool would keep 8 KiB of it as long as it is kept.
    const event = Buffer.allocUnsafeSlow(length);
    const [[timeStart, timeEnd] = [0, 0], ...others] = lines;
    const [[start] = [0]] = others;
    const [, end] = others.at(-1) ?? [0, 0];
    let to = BEGIN.copy(event);
    this.#payload.copy(event, to, timeStart, timeEnd);
    // The others follow each other in the message: they are copied together, with their newlines.
    this.#payload.copy(event, to + timeEnd - timeStart + 1, start, end);
    const members = lines.map(([from, until], at) => {
      if (at > 0) event[to++] = COMMA;
      const begin = to;
      to += until - from;
      return { key: keys[at] ?? '', start: begin, end: to };
    });
    END.copy(event, to);
    return { event, members };
  }
}

function readHead(text: string): Head | undefined {
  const head = parseJson(text);
  if (!isObject(head) || head['v'] !== 1) return undefined;
  const { plain, detail } = head;
  const isSound = isReading(head) && isNames(plain) && (detail === undefined || isNames(detail));
  return isSound ? (head as unknown as Head) : undefined; // As was just checked.
}
