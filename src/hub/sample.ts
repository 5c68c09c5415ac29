/** A sample of another machine as bytes: passed on as it came, or with sections left out. */
import { ALL_SECTIONS, SECTION_BITS, SECTIONS } from '../host/host.ts';
import type { SampleEvents } from '../http/stream/stream-hub.ts';
import type { View } from '../stats/view.ts';
import { type Member, membersOf } from './members.ts';

const BEGIN = Buffer.from('data: ');
const END_BYTES = 2;
const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}\n\n');

const bitOf = (key: string): number => {
  const section = SECTIONS.find((name) => name === key);
  return section === undefined ? 0 : SECTION_BITS[section];
};

export class HostSample implements SampleEvents {
  /** `data: {…}` and a blank line. */
  readonly #event: Buffer;
  /** The sections that it was asked for. */
  readonly sections: number;
  /** Of the hub's clock, in milliseconds. */
  readonly takenAtMs: number;
  /** undefined: not looked for yet; null: it is not valid JSON. */
  #members: readonly Member[] | null | undefined;
  /** By sections: those that were made. */
  #cuts: Map<number, Buffer> | undefined;

  constructor(event: Buffer, sections: number, takenAtMs: number) {
    this.#event = event;
    this.sections = sections;
    this.takenAtMs = takenAtMs;
  }

  /** Whether it is a JSON object with a time, which is found out once. */
  get isValid(): boolean {
    return this.#find()?.some(({ key }) => key === 'timestamp') === true;
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
    this.#cuts ??= new Map();
    this.#cuts.set(sections, cut);
    return cut;
  }

  /** The JSON alone. */
  payload(view: View): Buffer {
    const event = this.event(view);
    return event.subarray(BEGIN.length, event.length - END_BYTES);
  }

  #find(): readonly Member[] | undefined {
    this.#members ??= membersOf(this.#event, BEGIN.length, this.#event.length - END_BYTES) ?? null;
    return this.#members ?? undefined;
  }

  #cut(extra: number): Buffer {
    const parts: Buffer[] = [BEGIN, OPEN];
    for (const { key, start, end } of this.#find() ?? []) {
      if ((bitOf(key) & extra) !== 0) continue;
      if (parts.length > 2) parts.push(COMMA);
      parts.push(this.#event.subarray(start, end));
    }
    return Buffer.concat([...parts, CLOSE]);
  }
}
