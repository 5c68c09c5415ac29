/**
 * A recorder that keeps every sample and works each answer out from all of them: what the one with rings must be equal to.
 */
import type { Counters } from '#src/host/host.js';
import type { Sample } from '#src/stats/sample.js';

/** A value, and the seconds that it is known for. */
interface Segment {
  readonly begin: number;
  readonly end: number;
  readonly value: number;
}

interface Series {
  readonly segments: Segment[];
  readonly slots: Map<number, number[]>;
  /** The second of the newest value. */
  last: number;
  /** Seconds before it are forgotten. */
  oldest: number;
}

/** `null`: nothing is known. */
export interface Expected {
  readonly mean: number | null;
  readonly min: number | null;
  readonly max: number | null;
}

const UNKNOWN: Expected = { mean: null, min: null, max: null };
const MIB = 2 ** 20;

const sleptNs = ({ sinceBootNs, takenAtNs }: Counters) => sinceBootNs - takenAtNs;

function summarize(values: readonly number[]): Expected {
  if (values.length === 0) return UNKNOWN;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, min: Math.min(...values), max: Math.max(...values) };
}

const newSeries = (): Series => ({
  segments: [],
  slots: new Map(),
  last: Number.NEGATIVE_INFINITY,
  oldest: Number.NEGATIVE_INFINITY,
});

export class Reference {
  readonly series = new Map<string, Series>();
  readonly marks: { readonly at: number; readonly kind: string; readonly seconds: number }[] = [];
  #slot = Number.NEGATIVE_INFINITY;
  /** Slots before it are forgotten. */
  #first = Number.NEGATIVE_INFINITY;
  #slots: number;
  #before: Sample | undefined;
  #network: Sample | undefined;

  constructor(minutes: number) {
    this.#slots = minutes * 6;
  }

  resize(minutes: number): void {
    this.#forget();
    this.#slots = minutes * 6;
    this.#forget();
  }

  #forget(): void {
    this.#first = Math.max(this.#first, this.#slot - this.#slots + 1);
  }

  /** `heldSeconds`: the longest time between two readings. */
  take(sample: Sample, heldSeconds: number): void {
    const { counters } = sample;
    const at = counters.unixMs / 1000;
    const second = Math.floor(at);
    const continues = this.#before !== undefined && !this.#isTorn(this.#before.counters, counters);
    this.#slot = Math.max(this.#slot, Math.floor(at / 10));
    this.#forget();
    for (const [name, value] of Object.entries(this.#valuesOf(sample))) {
      if (value === null || value === undefined) continue;
      const series = this.series.get(name) ?? newSeries();
      this.series.set(name, series);
      const begin = Math.min(second, Math.max(series.last + 1, second - (continues ? heldSeconds : 0)));
      series.segments.push({ begin, end: second, value });
      series.slots.set(this.#slot, [...(series.slots.get(this.#slot) ?? []), value]);
      series.last = Math.max(series.last, second);
      series.oldest = Math.max(series.oldest, series.last - 299);
    }
    this.#before = sample;
    if (sample.network !== undefined) this.#network = sample;
  }

  /** Whether the machine slept or its clock was set. */
  #isTorn(before: Counters, after: Counters): boolean {
    const at = after.unixMs / 1000;
    const slept = (sleptNs(after) - sleptNs(before)) / 1e9;
    const jump = (after.unixMs - before.unixMs) / 1000 - (after.sinceBootNs - before.sinceBootNs) / 1e9;
    if (slept > 2) this.#mark(at, 'suspend', slept);
    if (jump < -1) for (const series of this.series.values()) dropFrom(series, at);
    if (jump < -1 && Math.floor(at / 10) <= this.#slot) {
      this.#slot = Math.floor(at / 10);
      this.#first = Math.min(this.#first, this.#slot);
    }
    if (Math.abs(jump) > 1) this.#mark(at, 'clock', jump);
    return slept > 2 || Math.abs(jump) > 1;
  }

  #mark(at: number, kind: string, seconds: number): void {
    const kept = this.marks.filter((mark) => mark.at <= at);
    this.marks.splice(0, this.marks.length, ...kept, { at, kind, seconds });
  }

  #valuesOf({ cpu, memory, gpu, disks, network, extras, counters }: Sample) {
    const before = this.#network?.counters;
    const [links, linksBefore] = [network && counters.network, before?.network];
    const seconds = before === undefined ? 0 : (counters.takenAtNs - before.takenAtNs) / 1e9;
    const hasRate = before !== undefined && seconds > 0 && sleptNs(counters) - sleptNs(before) <= 1e9;
    const received = links?.[0]?.receivedBytes;
    const receivedBefore = linksBefore?.[0]?.receivedBytes;
    const hasLinks = received !== undefined && receivedBefore !== undefined;
    const rate =
      hasRate && hasLinks && received >= receivedBefore ? (received - receivedBefore) / seconds : null;
    const celsius = counters.cpu?.temperatureCelsius;
    return {
      'cpu.load': cpu && (cpu.detail ? cpu.detail.current_load : counters.cpu && cpu.stats.current_load),
      'cpu.temperature': cpu && typeof celsius === 'number' ? Math.round(celsius * 10) / 10 : null,
      'cpu.core/0': cpu?.detail?.cores[0],
      'memory.used': memory && counters.memory ? memory.stats.used / MIB : null,
      'gpu.load/0': gpu?.detail ? gpu.detail.current_load : gpu?.stats?.current_load || null,
      'disk.read//': disks?.detail?.[0]?.read_rate,
      'network.receive/eth0': rate,
      'battery.charge/BAT0': extras?.batteries?.[0]?.percent,
    };
  }

  /** Returns the value of a second. */
  fine(name: string, second: number): number | null {
    const series = this.series.get(name);
    if (series === undefined || second < series.oldest) return null;
    const { segments } = series;
    for (let at = segments.length - 1; at >= 0; at--) {
      const segment = segments[at];
      if (segment === undefined || segment.end < second - 1000) break;
      if (segment.begin <= second && second <= segment.end) return segment.value;
    }
    return null;
  }

  /** Summarizes the slots of 10 s from `from` to before `until`. */
  coarse(name: string, from: number, until: number): Expected {
    const known: Expected[] = [];
    const slots = this.series.get(name)?.slots;
    for (let slot = Math.max(from, this.#first); slot < until; slot++) {
      const values = slots?.get(slot);
      if (values !== undefined) known.push(summarize(values));
    }
    if (known.length === 0) return UNKNOWN;
    const all = (key: keyof Expected) => known.map((summary) => summary[key] ?? Number.NaN);
    return { mean: summarize(all('mean')).mean, min: Math.min(...all('min')), max: Math.max(...all('max')) };
  }
}

/** The clock was set back to `at`: what lies after it is forgotten, and the slot that it is in. */
function dropFrom(series: Series, at: number): void {
  const second = Math.floor(at);
  const kept = series.segments
    .filter(({ begin }) => begin < second)
    .map((segment) => ({ ...segment, end: Math.min(segment.end, second - 1) }));
  series.segments.splice(0, series.segments.length, ...kept);
  for (const slot of series.slots.keys()) if (slot >= Math.floor(at / 10)) series.slots.delete(slot);
  if (second > series.last) return;
  series.last = second - 1;
  series.oldest = Math.min(series.oldest, second);
}
