/** The data of the charts: the last five minutes of each series. */
export const WINDOW_SECONDS = 300;
/** A pause of this many intervals is drawn as a gap. */
const GAP_INTERVALS = 2.5;
/** An interval is at least 1 s; each gap adds a point. */
const MAX_POINTS = WINDOW_SECONDS * 2;

export type Point = number | null;

export class History {
  readonly times: number[] = [];
  readonly #series = new Map<string, Point[]>();

  /** The points of `name` at `times`; all unknown for a series that does not exist. */
  series(name: string): readonly Point[] {
    return this.#series.get(name) ?? this.times.map(() => null);
  }

  push(time: number, intervalSeconds: number, values: ReadonlyMap<string, Point>): void {
    const last = this.times.at(-1);
    // The machine's clock was set back, so the drawn points belong to another time.
    if (last !== undefined && time < last) this.#clear();
    if (last !== undefined && time - last > intervalSeconds * GAP_INTERVALS)
      this.#append(last + intervalSeconds, new Map());
    if (last !== time) this.#append(time, values);
    this.#forget(time - WINDOW_SECONDS);
  }

  #append(time: number, values: ReadonlyMap<string, Point>): void {
    for (const name of values.keys())
      if (!this.#series.has(name))
        this.#series.set(
          name,
          this.times.map(() => null),
        );
    this.times.push(time);
    for (const [name, points] of this.#series) points.push(values.get(name) ?? null);
  }

  #forget(before: number): void {
    const firstKept = this.times.findIndex((time) => time >= before);
    const old = Math.max(firstKept, this.times.length - MAX_POINTS);
    if (old <= 0) return;
    this.times.splice(0, old);
    for (const [name, points] of this.#series) {
      points.splice(0, old);
      if (points.every((point) => point === null)) this.#series.delete(name);
    }
  }

  #clear(): void {
    this.times.length = 0;
    this.#series.clear();
  }
}

/** In percent. */
export function shareOf(part: number | null, whole: number | null): Point {
  return part === null || whole === null || whole === 0 ? null : (100 * part) / whole;
}
