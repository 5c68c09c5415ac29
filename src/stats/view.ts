/** Views: which sections of a sample, with or without detail, a subscriber asked for; each is encoded once. */
import { ALL_SECTIONS, SECTION_BITS, SECTIONS, type Section } from '../host/host.ts';
import type { TopDetail } from '../wire/sample.ts';
import type { Sample } from './sample.ts';

export interface View {
  /** A set of SECTION_BITS. */
  readonly sections: number;
  readonly withDetail: boolean;
  /** 0–63, the same for equal views. */
  readonly index: number;
}

const DETAIL_BIT = ALL_SECTIONS + 1;

const VIEWS: readonly View[] = Array.from({ length: DETAIL_BIT * 2 }, (_, index) => ({
  sections: index & ALL_SECTIONS,
  withDetail: (index & DETAIL_BIT) !== 0,
  index,
}));

/** How many different views there can be. */
export const VIEW_COUNT = VIEWS.length;

/** The view with this index. */
export function viewAt(index: number): View {
  const view = VIEWS[index];
  if (view === undefined) throw new RangeError(`no view ${index}`);
  return view;
}

/** The view of `sections`; equal views are the same object. */
export function viewOf(sections: number, withDetail: boolean): View {
  return viewAt((sections & ALL_SECTIONS) | (withDetail ? DETAIL_BIT : 0));
}

// An echo that may stand in a header: uWebSockets.js decodes the query, so anything could be in it.
const ECHOED = /^[A-Za-z0-9_.-]{1,32}$/;
const MOST_ECHOED = 8;

/**
 * The view that the query parameters `fields` (every occurrence) and `detail` ask for, and the unknown names that may
 * be echoed. Never an error: EventSource gives up for good on one.
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
    else if (ECHOED.test(name) && ignored.size < MOST_ECHOED && !ignored.has(lowered))
      ignored.set(lowered, name);
  }
  if (names.length === 0) sections = ALL_SECTIONS;
  const wanted = detail?.trim().toLowerCase();
  return { view: viewOf(sections, wanted === '1' || wanted === 'true'), ignored: [...ignored.values()] };
}

/** One sample on its way out: every view is turned into bytes once, however many subscribe to it. */
export class Encoded {
  readonly sample: Sample;
  /** The view that was encoded first and its line: mostly there is no other one. */
  #firstView: View | undefined;
  #firstLine: Buffer | undefined;
  #otherLines: Map<View, Buffer> | undefined;
  #encodes = 0;

  constructor(sample: Sample) {
    this.sample = sample;
  }

  /** How many views were encoded: at most one a view. */
  get encodes(): number {
    return this.#encodes;
  }

  /** The payload of `view` as JSON text. */
  json(view: View): string {
    return JSON.stringify(payloadOf(this.sample, view));
  }

  /** The payload as the line `data: <JSON>\n` of an event stream. The blank line that ends it is not in it. */
  line(view: View): Buffer {
    const known = view === this.#firstView ? this.#firstLine : this.#otherLines?.get(view);
    if (known !== undefined) return known;
    this.#encodes++;
    const line = Buffer.from(`data: ${this.json(view)}\n`);
    if (this.#firstView === undefined) {
      this.#firstView = view;
      this.#firstLine = line;
    } else {
      this.#otherLines ??= new Map();
      this.#otherLines.set(view, line);
    }
    return line;
  }
}

type Payload = Readonly<Record<Exclude<keyof Sample, 'top'> | keyof TopDetail, unknown>>;

// One literal, made into text in one go: JSON leaves out what is undefined. Spreading objects into it would cost as much
// as the text.
function payloadOf(sample: Sample, view: View): object {
  const { timestamp, uptime } = sample;
  const { sections, withDetail } = view;
  const of = (section: Section) => {
    const derived = (sections & SECTION_BITS[section]) === 0 ? undefined : sample[section];
    return withDetail ? derived?.detail : derived?.stats;
  };
  const cpu = of('cpu');
  const memory = of('memory');
  const gpu = of('gpu');
  const disks = of('disks');
  const network = of('network');
  if (!withDetail) return { timestamp, uptime, cpu, memory, gpu, disks, network };
  const { top } = sample;
  const payload: Payload = {
    timestamp,
    uptime,
    interval_seconds: top?.interval_seconds,
    host: top?.host,
    sensors: top?.sensors,
    batteries: top?.batteries,
    processes: top?.processes,
    cpu,
    memory,
    gpu,
    disks,
    network,
  };
  return payload;
}
