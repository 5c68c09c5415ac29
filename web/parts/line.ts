/** Types of a chart: lines, and the scale that they share. */
import { celsius, percent, rate, rateTick } from '../format.ts';
import type { Colour } from './palette.ts';

export interface Line {
  /** Its name in the service's history. */
  readonly series: string;
  readonly label: string;
  readonly colour: Colour;
  /** Lines must be distinguishable without colours. */
  readonly isDashed?: boolean;
  /** One of many lines: thin, and not in the legend. */
  readonly isFaint?: boolean;
}

export interface Scale {
  readonly format: (value: number | null) => string;
  /** Like `format`, for the axis. */
  readonly tick?: (value: number) => string;
  /** Returns the range of the axis for the range of the data. */
  readonly range: (min: number, max: number) => readonly [number, number];
}

/** Minimum scale of rates; the steps are chosen so that the middle is a round number of binary units too. */
export const LEAST_RATE = 16 * 1024;

export const PERCENT: Scale = { format: percent, range: () => [0, 100] };
export const RATE: Scale = {
  format: rate,
  tick: rateTick,
  range: (_, max) => [0, 2 ** Math.ceil(Math.log2(Math.max(max, LEAST_RATE)))],
};
export const DEGREES: Scale = {
  format: celsius,
  range: (min, max) => {
    const from = Math.max(0, Math.floor((min - 5) / 10) * 10);
    // The middle is a multiple of ten too.
    return [from, from + Math.max(40, Math.ceil((max + 5 - from) / 20) * 20)];
  },
};
