/** Views: a set of sections, with or without detail, that a subscriber requested; each is encoded once per sample. */
import { ALL_SECTIONS, SECTION_BITS, SECTIONS, type Section } from '../host/host.ts';
import { ALL_DETAILS, type Needs } from './needs.ts';
import type { Sample } from './sample.ts';

export interface View extends Needs {
  /** 0–63, the same for equal views. */
  readonly index: number;
}

const DETAIL_BIT = ALL_SECTIONS + 1;

const VIEWS: readonly View[] = Array.from({ length: DETAIL_BIT * 2 }, (_, index) => ({
  sections: index & ALL_SECTIONS,
  withDetail: (index & DETAIL_BIT) !== 0,
  details: (index & DETAIL_BIT) === 0 ? 0 : ALL_DETAILS,
  index,
}));

/** The number of different views. */
export const VIEW_COUNT = VIEWS.length;

/** The view with this index. */
export function viewAt(index: number): View {
  const view = VIEWS[index];
  if (view === undefined) throw new RangeError(`no view ${index}`);
  return view;
}

/** Returns the view of `sections`; equal views are the same object. */
export function viewOf(sections: number, withDetail: boolean): View {
  return viewAt((sections & ALL_SECTIONS) | (withDetail ? DETAIL_BIT : 0));
}

// Names that may be echoed in a header: uWebSockets.js decodes the query, so it could contain anything.
const ECHOED = /^[A-Za-z0-9_.-]{1,32}$/;
const MAX_ECHOED = 8;

/**
 * Returns the view that the query parameters `fields` (every occurrence) and `detail` request, and the unknown names
 * that may be echoed. Never an error: EventSource gives up permanently on one.
 */
export function parseView(
  fields: readonly string[],
  detail: string | null,
): { readonly view: View; readonly ignored: readonly string[] } {
  const names = fields
    .flatMap((list) => list.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
  let sections = 0;
  // By their lower case, so that one name is echoed once.
  const ignored = new Map<string, string>();
  for (const name of names) {
    const lowered = name.toLowerCase();
    const section = SECTIONS.find((known) => known === lowered);
    if (section !== undefined) sections |= SECTION_BITS[section];
    else if (ECHOED.test(name) && ignored.size < MAX_ECHOED && !ignored.has(lowered))
      ignored.set(lowered, name);
  }
  if (names.length === 0) sections = ALL_SECTIONS;
  const wanted = detail?.trim().toLowerCase();
  return { view: viewOf(sections, wanted === '1' || wanted === 'true'), ignored: [...ignored.values()] };
}

const EVENT_BEGIN = 'data: ';
const EVENT_END = '\n\n';

/** One sample as bytes: each view is encoded once, however many subscribe to it. */
export class Encoded {
  readonly sample: Sample;
  /** The events by view. */
  readonly #events = new Map<View, Buffer>();

  constructor(sample: Sample) {
    this.sample = sample;
  }

  /** Returns how many encodings were made: at most one per view. */
  get encodes(): number {
    return this.#events.size;
  }

  /** The payload of `view` as JSON text. */
  json(view: View): string {
    return JSON.stringify(payloadOf(this.sample, view));
  }

  /** The same as bytes, which all callers share. */
  payload(view: View): Buffer {
    return this.event(view).subarray(EVENT_BEGIN.length, -EVENT_END.length);
  }

  /** The payload as an event of an event stream, `data: <JSON>\n\n`. */
  event(view: View): Buffer {
    const known = this.#events.get(view);
    if (known !== undefined) return known;
    const event = Buffer.from(`${EVENT_BEGIN}${this.json(view)}${EVENT_END}`);
    this.#events.set(view, event);
    return event;
  }
}

// Converted in one call: JSON omits undefined values. The spread takes 0.06 µs more than naming each key
// would; the text of a detailed payload takes 7 µs.
function payloadOf(sample: Sample, view: View): object {
  const { timestamp, uptime, extras } = sample;
  const { sections, withDetail } = view;
  const sectionOf = (section: Section) => {
    const derived = (sections & SECTION_BITS[section]) === 0 ? undefined : sample[section];
    return withDetail ? derived?.detail : derived?.stats;
  };
  const cpu = sectionOf('cpu');
  const memory = sectionOf('memory');
  const gpu = sectionOf('gpu');
  const disks = sectionOf('disks');
  const network = sectionOf('network');
  if (!withDetail) return { timestamp, uptime, cpu, memory, gpu, disks, network };
  return { timestamp, uptime, ...extras, cpu, memory, gpu, disks, network };
}
