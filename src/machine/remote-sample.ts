/** A sample of another machine: checked where it enters the hub, and written once per view. */
import { QUOTAS } from '../fairness/limits.ts';
import { SECTION_BITS, SECTIONS } from '../host/host.ts';
import type { JsonObject } from '../json.ts';
import type { View } from '../stats/view.ts';
import type { MachineSample } from '../streams/sample.ts';
import { plainFigures } from './last-values.ts';

const BEGIN = 'data: ';
const END = '\n\n';

/** The keys of a payload that are sections. */
const BITS: ReadonlyMap<string, number> = new Map(SECTIONS.map((name) => [name, SECTION_BITS[name]]));

export class RemoteSample implements MachineSample {
  readonly #payload: JsonObject;
  /** Those that the machine was asked for. */
  readonly sections: number;
  readonly withDetail: boolean;
  /** Time by the hub's clock, in milliseconds. */
  readonly takenAtMs: number;
  /** By the index of the view; all are made again when they would be too long together. */
  readonly #events = new Map<number, Buffer>();
  #eventBytes = 0;

  constructor(payload: JsonObject, sections: number, withDetail: boolean, takenAtMs: number) {
    this.#payload = payload;
    this.sections = sections;
    this.withDetail = withDetail;
    this.takenAtMs = takenAtMs;
  }

  has({ sections, withDetail }: View): boolean {
    return (sections & ~this.sections) === 0 && (this.withDetail || !withDetail);
  }

  event(view: View): Buffer {
    const known = this.#events.get(view.index);
    if (known !== undefined) return known;
    // JSON.parse has dropped the first of two equal keys, of which a reader might use either.
    const text = `${BEGIN}${JSON.stringify(this.#cut(view))}${END}`;
    // Not of the pool: the newest event of each machine would keep 8 KiB with bytes of others.
    const event = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
    event.write(text);
    this.#eventBytes += event.length;
    if (this.#eventBytes > QUOTAS.keptViews.maxBytes) {
      this.#events.clear();
      this.#eventBytes = event.length;
    }
    this.#events.set(view.index, event);
    return event;
  }

  /** The JSON alone. */
  payload(view: View): Buffer {
    return this.event(view).subarray(BEGIN.length, -END.length);
  }

  #cut({ sections, withDetail }: View): JsonObject {
    if (this.withDetail && !withDetail) return plainFigures(this.#payload, sections);
    const members = Object.entries(this.#payload);
    const wanted = members.filter(([key]) => {
      const bit = BITS.get(key);
      return bit === undefined || (bit & sections) !== 0;
    });
    return wanted.length === members.length ? this.#payload : Object.fromEntries(wanted);
  }
}
