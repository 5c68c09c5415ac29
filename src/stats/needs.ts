/** The required content of a reading: the sections of a view, and the details. Sets of these are numbers. */
import { ALL_SECTIONS, SECTION_BITS } from '../host/host.ts';
import type { DetailKey } from './detail-row.ts';
import { DETAIL_KEYS } from './details.ts';

export interface Needs {
  /** A set of SECTION_BITS. */
  readonly sections: number;
  readonly withDetail: boolean;
  /** A set of DETAIL_BITS; without detail none is read. */
  readonly details: number;
}

/** One bit per detail: 1 << its place in DETAILS, as in the addon. */
export const DETAIL_BITS = Object.fromEntries(DETAIL_KEYS.map((key, at) => [key, 1 << at])) as Readonly<
  Record<DetailKey, number> // The keys are those of DETAIL_KEYS.
>;
export const ALL_DETAILS = (1 << DETAIL_KEYS.length) - 1;

const SECTION_COUNT = 5;
/** A section's bit shifted by this is the key of the section with detail… */
const DETAILED = SECTION_COUNT;
/** …and a detail's bit shifted by this is the key of the detail. */
const DETAIL = 2 * SECTION_COUNT;

export const detailKey = (section: number) => section << DETAILED;
export const keyOfDetail = (key: DetailKey) => DETAIL_BITS[key] << DETAIL;

/** Converts needs to a set of keys, one bit each: sections, sections with detail, details. */
export function keysOf({ sections, withDetail, details }: Needs): number {
  return withDetail ? sections | detailKey(sections) | (details << DETAIL) : sections;
}

export function needsOf(keys: number): Needs {
  return {
    sections: (keys | (keys >> DETAILED)) & ALL_SECTIONS,
    withDetail: keys > ALL_SECTIONS,
    details: keys >> DETAIL,
  };
}

/** Returns each bit of `keys` separately. */
export function bitsOf(keys: number): readonly number[] {
  const bits: number[] = [];
  for (let rest = keys; rest !== 0; rest &= rest - 1) bits.push(rest & -rest);
  return bits;
}

export const covers = (have: number, wanted: number) => (wanted & ~have) === 0;

/** Returns the keys of one reading for both: it reads all of its sections with detail, or none. */
export const unite = (some: number, others: number) => keysOf(needsOf(some | others));

/** Returns those of `keys` that take two readings, or an answer of the probers: all but memory without detail. */
export const windowed = (keys: number) => keys & ~SECTION_BITS.memory;

export const wantsProcesses = (keys: number) => covers(keys, keyOfDetail('processes'));
