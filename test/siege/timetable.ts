/** Whether periodic events arrive when they are due. Pure; times are monotonic milliseconds. */

/** The part of an interval by which an event may be early against the phase; more counts as late by the rest. */
const EARLY_PART = 0.2;
/** Arrivals from which the phase is derived: those of 30 subscribers in half a minute. */
const PHASE_ARRIVALS = 900;

interface Course {
  readonly firstMs: number;
  lastMs: number;
  count: number;
}

export class Timetable {
  readonly #intervalMs: number;
  readonly #courses = new Map<number, Course>();
  readonly #deviations: number[] = [];
  #referenceMs: number | undefined;
  #events = 0;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /**
   * The lateness of an event: against the median phase of all subscribers, or against the subscriber's previous event if
   * that is more.
   */
  arrive(subscriber: number, atMs: number): number {
    this.#events++;
    const lateMs = this.#latenessOf(atMs);
    const course = this.#courses.get(subscriber);
    if (course === undefined) {
      this.#courses.set(subscriber, { firstMs: atMs, lastMs: atMs, count: 1 });
      return lateMs;
    }
    const gapMs = atMs - course.lastMs;
    course.lastMs = atMs;
    course.count++;
    return Math.max(lateMs, gapMs - (1 + EARLY_PART) * this.#intervalMs > 0 ? gapMs - this.#intervalMs : 0);
  }

  #latenessOf(atMs: number): number {
    this.#referenceMs ??= atMs;
    const interval = this.#intervalMs;
    const turns = (atMs - this.#referenceMs) / interval;
    this.#deviations.push((turns - Math.round(turns)) * interval);
    if (this.#deviations.length > PHASE_ARRIVALS) this.#deviations.shift();
    const sorted = this.#deviations.toSorted((a, b) => a - b);
    const phaseMs = this.#referenceMs + (sorted[sorted.length >> 1] ?? 0);
    const late = (atMs - phaseMs) / interval;
    return Math.max(0, (late - Math.floor(late + EARLY_PART)) * interval);
  }

  /** Events of all subscribers so far. */
  get events(): number {
    return this.#events;
  }

  /** How many events were due to all subscribers by `nowMs` and have not arrived within half an interval. */
  missing(nowMs: number): number {
    let missing = 0;
    for (const { firstMs, lastMs, count } of this.#courses.values()) {
      const due = 1 + Math.floor((lastMs - firstMs) / this.#intervalMs + EARLY_PART);
      const overdue = Math.floor((nowMs - lastMs) / this.#intervalMs - 0.5);
      missing += Math.max(0, due - count) + Math.max(0, overdue);
    }
    return missing;
  }
}

/** As a timetable, of events that are only due an interval after the one before them. */
export class KeepAlive {
  readonly #intervalMs: number;
  readonly #lastMs = new Map<number, number>();
  #missing = 0;
  #events = 0;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** The lateness of an event against the subscriber's previous one. */
  arrive(subscriber: number, atMs: number): number {
    this.#events++;
    const lastMs = this.#lastMs.get(subscriber) ?? atMs - this.#intervalMs;
    this.#lastMs.set(subscriber, atMs);
    const gapMs = atMs - lastMs;
    // An event that is less than half an interval late is only late: none is missing before it.
    this.#missing += Math.max(0, Math.floor(gapMs / this.#intervalMs - 0.5));
    return Math.max(0, gapMs - this.#intervalMs);
  }

  get events(): number {
    return this.#events;
  }

  missing(nowMs: number): number {
    let missing = this.#missing;
    for (const lastMs of this.#lastMs.values())
      missing += Math.max(0, Math.floor((nowMs - lastMs) / this.#intervalMs - 0.5));
    return missing;
  }
}
