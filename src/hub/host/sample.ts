/** A sample of another machine as bytes: passed on as it came, or with sections left out. */
import { ALL_SECTIONS, SECTION_BITS, SECTIONS } from '../../host/host.ts';
import type { SampleEvents } from '../../http/stream/stream-hub.ts';
import type { View } from '../../stats/view.ts';
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

/** Whether a member begins, with that key, wherever one is claimed to: then each claim ends where a member does. */
const agree = (members: readonly Member[], claims: readonly Member[]): boolean =>
  claims.every(({ key, start }) =>
    members.some((member) => member.start === start && (key === '' || member.key === key)),
  );

export class HostSample implements SampleEvents {
  /** `data: {…}` and a blank line. */
  readonly #event: Buffer;
  /** The sections that it was asked for. */
  readonly sections: number;
  /** Of the hub's clock, in milliseconds. */
  readonly takenAtMs: number;
  /** undefined: not looked for yet; null: it is not valid JSON. */
  #members: readonly Member[] | null | undefined;
  /** Where an agent says that its members are; a key of '' stands for several that belong to no section. */
  readonly #claims: readonly Member[] | undefined;
  /** By sections: those that were made. */
  #cuts: Map<number, Buffer> | undefined;

  constructor(event: Buffer, sections: number, takenAtMs: number, claims?: readonly Member[]) {
    this.#event = event;
    this.#claims = claims;
    this.sections = sections;
    this.takenAtMs = takenAtMs;
  }

  get byteLength(): number {
    return this.#event.length;
  }

  /** Whether it is a JSON object with a time, and what is claimed of it is true; found out once. */
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
    if (this.#members !== undefined) return this.#members ?? undefined;
    const found = membersOf(this.#event, BEGIN.length, this.#event.length - END_BYTES);
    this.#members = found !== undefined && agree(found, this.#claims ?? []) ? found : null;
    return this.#members ?? undefined;
  }

  #cut(extra: number): Buffer {
    const parts: Buffer[] = [BEGIN, OPEN];
    // Nothing is looked for where it is known: what is wrong there is seen by the viewers of that machine alone.
    for (const { key, start, end } of this.#claims ?? this.#find() ?? []) {
      if ((bitOf(key) & extra) !== 0) continue;
      if (parts.length > 2) parts.push(COMMA);
      parts.push(this.#event.subarray(start, end));
    }
    return Buffer.concat([...parts, CLOSE]);
  }
}
