/** The moment that all charts show, and that of a pin: for parts that know nothing of the history. */
import { Value } from './value.ts';

export interface Moment {
  /** Unix seconds of the machine. */
  readonly at: number;
  /** The title of the chart in which it was chosen; empty: none, of a link. */
  readonly chart: string;
}

export const moment = new Value<Moment | undefined>(undefined);
/** The charts show another time than now. */
export const isThen = new Value(false);
/** The begin and the end of a time that is being selected, in either order. */
export const selected = new Value<readonly [number, number] | undefined>(undefined);
/** Stays when the pointer leaves, and is in the address. */
export const pinned = new Value<Moment | undefined>(undefined);
