/** A sample of another machine as bytes: passed on as it came, or with sections left out. */
import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { BoundedCache } from '../../fairness/bounded-cache.ts';
import { ALL_SECTIONS, SECTION_BITS, SECTIONS } from '../../host/host.ts';
import { isObject, type JsonObject } from '../../json.ts';
import type { View } from '../../stats/view.ts';
import type { MachineSample } from '../../streams/sample.ts';
import { parseSound } from '../protocol/json.ts';
import { findMalformed } from './sample-shape.ts';

const BEGIN = Buffer.from('data: ');
const END_BYTES = 2;
const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}\n\n');

/** 23 views of the largest machine's sample (0.7 MB), which may have 512. */
const MAX_CUTS_BYTES = 16 * 2 ** 20;

const bitOf = (key: string): number => {
  const section = SECTIONS.find((name) => name === key);
  return section === undefined ? 0 : SECTION_BITS[section];
};

/** A part of the event that is one member or several. */
export interface Member {
  /** Key of the section; '' for several members that are not sections. */
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** Whether the keys of a part are those that are claimed of it: one section alone, or none. */
const agree = (keys: readonly string[], claimed: string): boolean =>
  bitOf(claimed) === 0
    ? (claimed === '' || keys[0] === claimed) && keys.every((key) => bitOf(key) === 0)
    : keys.length === 1 && keys[0] === claimed;

/** Between members that are parsed together. Its text is random, so that no agent can send it. */
const SEPARATOR = randomBytes(16).toString('base64url');
const BETWEEN = `},"${SEPARATOR}",{`;

interface Read {
  readonly sample: JsonObject;
  /** Each member as JSON.stringify writes it, where the event may have members that parsing drops. */
  readonly texts?: readonly string[];
}

/** The end of each key; a string may have it too. */
const KEY_END = /"\s*:/g;

function countKeyEnds(text: string): number {
  let count = 0;
  while (KEY_END.test(text)) count++;
  return count;
}

/** The number of members in all objects of `value`, which is not nested deeply. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countMembers(item);
  else for (const item of Object.values(value)) count += 1 + countMembers(item);
  return count;
}

/**
 * The sample that claimed members make together; undefined: one of them is not the member that it is said to be. They are
 * parsed in one call, as a list of objects: each of them is complete if the separators are where they were put.
 */
function readClaims(event: Buffer, claims: readonly Member[]): Read | undefined {
  const whole = event.toString();
  // In pure ASCII an offset in the text is one in the bytes.
  const textOf =
    whole.length === event.length
      ? ({ start, end }: Member) => whole.slice(start, end)
      : ({ start, end }: Member) => event.toString('utf8', start, end);
  const text = claims.map(textOf).join(BETWEEN);
  const parts = parseSound(`[{${text}}]`);
  if (!Array.isArray(parts) || parts.length !== 2 * claims.length - 1) return undefined;
  const sample: Record<string, unknown> = {};
  for (const [at, { key: claimed }] of claims.entries()) {
    const part: unknown = parts[2 * at];
    if (!isObject(part) || (at > 0 && parts[2 * at - 1] !== SEPARATOR)) return undefined;
    const keys = Object.keys(part);
    if (keys.length === 0 || !agree(keys, claimed) || keys.some((key) => Object.hasOwn(sample, key)))
      return undefined;
    for (const key of keys) sample[key] = part[key];
  }
  if (countKeyEnds(text) === countMembers(parts)) return { sample };
  return { sample, texts: claims.map((_, at) => JSON.stringify(parts[2 * at]).slice(1, -1)) };
}

export class HostSample implements MachineSample {
  /** `data: {…}` and a blank line. */
  #event: Buffer;
  /** The sections that it was asked for. */
  readonly sections: number;
  /** Time by the hub's clock, in milliseconds. */
  readonly takenAtMs: number;
  /** Where the agent says that its members are. */
  #claims: readonly Member[];
  /** By sections: those that were made. */
  #cuts: BoundedCache<number, Buffer> | undefined;

  constructor(event: Buffer, sections: number, takenAtMs: number, claims: readonly Member[]) {
    this.#event = event;
    this.#claims = claims;
    this.sections = sections;
    this.takenAtMs = takenAtMs;
  }

  get byteLength(): number {
    return this.#event.length;
  }

  /** Returns why it must not be passed on, without a byte of it; undefined where it may be. Once, where it enters: 10 µs per KB. */
  check(): string | undefined {
    if (!isUtf8(this.#event)) return 'its samples are not valid UTF-8';
    const { sample, texts } = readClaims(this.#event, this.#claims) ?? {};
    if (sample?.['timestamp'] === undefined) return 'its samples are malformed';
    const malformed = findMalformed(sample);
    if (malformed !== undefined) return `its samples are malformed: ${malformed}`;
    if (texts !== undefined) this.#replace(texts);
    return undefined;
  }

  /** Passes on what was checked: of two equal keys a reader may use the one that JSON.parse drops. */
  #replace(texts: readonly string[]): void {
    this.#event = Buffer.from(`${BEGIN}${OPEN}${texts.join()}${CLOSE}`);
    let end = BEGIN.length;
    this.#claims = this.#claims.map(({ key }, at) => {
      const start = end + 1;
      end = start + Buffer.byteLength(texts[at] ?? '');
      return { key, start, end };
    });
  }

  has({ sections }: View): boolean {
    return (sections & ~this.sections) === 0;
  }

  /** The same bytes where the view has all of it; otherwise those of the members that it has. */
  event({ sections }: View): Buffer {
    const extra = this.sections & ~sections & ALL_SECTIONS;
    if (extra === 0) return this.#event;
    const known = this.#cuts?.get(sections);
    if (known !== undefined) return known;
    const cut = this.#cut(extra);
    this.#cuts ??= new BoundedCache(MAX_CUTS_BYTES);
    this.#cuts.set(sections, cut);
    return cut;
  }

  /** The JSON alone. */
  payload(view: View): Buffer {
    const event = this.event(view);
    return event.subarray(BEGIN.length, event.length - END_BYTES);
  }

  #cut(extra: number): Buffer {
    const parts: Buffer[] = [BEGIN, OPEN];
    for (const { key, start, end } of this.#claims) {
      if ((bitOf(key) & extra) !== 0) continue;
      if (parts.length > 2) parts.push(COMMA);
      parts.push(this.#event.subarray(start, end));
    }
    return Buffer.concat([...parts, CLOSE]);
  }
}
