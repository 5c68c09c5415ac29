/** The last values of one figure of one machine, and the line drawn from them. */

/** One minute, with one event per second. */
export const TRAIL_LENGTH = 60;
/** The size of the drawing in its own units: one per value, and this height. */
export const TRAIL_HEIGHT = 24;

const MAX_VALUE = 100;

export class Trail {
  /** A ring; NaN is a gap. */
  readonly #values = new Float32Array(TRAIL_LENGTH).fill(Number.NaN);
  #next = 0;
  #path: string | undefined;

  push(value: number | null): void {
    this.#values[this.#next] = value ?? Number.NaN;
    this.#next = (this.#next + 1) % TRAIL_LENGTH;
    this.#path = undefined;
  }

  /** The commands of an SVG path: from 0 at the bottom to 100 at the top, the newest value at the right. */
  get path(): string {
    this.#path ??= this.#draw();
    return this.#path;
  }

  #draw(): string {
    let path = '';
    let isDown = false;
    for (let x = 0; x < TRAIL_LENGTH; x++) {
      const value = this.#values[(this.#next + x) % TRAIL_LENGTH] ?? Number.NaN;
      if (!Number.isNaN(value)) {
        const share = Math.min(1, Math.max(0, value / MAX_VALUE));
        const y = ((1 - share) * TRAIL_HEIGHT).toFixed(1);
        // A single value is a dot.
        path += isDown ? `L${x} ${y}` : `M${x} ${y}h0`;
      }
      isDown = !Number.isNaN(value);
    }
    return path;
  }
}
