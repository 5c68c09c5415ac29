/** The last values of one figure of one machine, and the line drawn from them. */

/** One minute, a value per second. */
export const TRAIL_LENGTH = 60;
/** The size of the drawing in its own units: one per value, and this height. */
export const TRAIL_HEIGHT = 24;

const MAX_VALUE = 100;
/** Longer pauses are gaps. */
const MAX_JOINED = 10;

export class Trail {
  /** A ring; NaN is a gap. */
  readonly #values = new Float32Array(TRAIL_LENGTH).fill(Number.NaN);
  #next = 0;
  /** The time of the newest value, in whole seconds. */
  #at = 0;
  /** Slots since the first value that was pushed. */
  #pushed = 0;
  #path: string | undefined;

  /** `at`: seconds. Values that are a few seconds apart, as the hub sends them, are joined. */
  push(at: number, value: number | null): void {
    const second = Math.round(at);
    const passed = Math.max(1, Math.min(TRAIL_LENGTH, second - this.#at));
    for (let slot = 1; slot <= passed; slot++) {
      const isJoined = slot === passed || (passed <= MAX_JOINED && this.#pushed > 0);
      this.#values[this.#next] = isJoined ? (value ?? Number.NaN) : Number.NaN;
      this.#next = (this.#next + 1) % TRAIL_LENGTH;
    }
    this.#pushed = this.#pushed === 0 ? 1 : Math.min(TRAIL_LENGTH, this.#pushed + passed);
    this.#at = Math.max(second, this.#at + 1);
    this.#path = undefined;
  }

  /** Lets the slots before the newest value be filled. */
  restart(): void {
    this.#pushed = 1;
  }

  /** Fills the slots before the first value with the newest of `values`, one per second. */
  fillBefore(values: readonly (number | null)[]): void {
    for (let back = this.#pushed; back < TRAIL_LENGTH; back++) {
      const slot = (this.#next - 1 - back + 2 * TRAIL_LENGTH) % TRAIL_LENGTH;
      this.#values[slot] = values.at(-1 - back) ?? Number.NaN;
    }
    this.#path = undefined;
  }

  /** The commands of an SVG path: from 0 at the bottom to 100 at the top, the newest value at the right. */
  get path(): string {
    const { length } = this.#values;
    this.#path ??= pathOf(
      Array.from(this.#values, (_, x) => this.#values[(this.#next + x) % length] ?? null),
      MAX_VALUE,
    );
    return this.#path;
  }
}

/** Returns the commands of an SVG path, one unit per value; null and NaN are gaps. */
export function pathOf(values: readonly (number | null)[], max: number): string {
  let path = '';
  let isDown = false;
  for (const [x, value] of values.entries()) {
    const isKnown = value !== null && !Number.isNaN(value);
    if (isKnown) {
      const share = Math.min(1, Math.max(0, value / max));
      const y = ((1 - share) * TRAIL_HEIGHT).toFixed(1);
      // A single value is a dot.
      path += isDown ? `L${x} ${y}` : `M${x} ${y}h0`;
    }
    isDown = isKnown;
  }
  return path;
}
