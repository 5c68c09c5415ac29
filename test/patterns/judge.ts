/**
 * Judges whether a pattern takes time in proportion to its subject. The unit is a linear scan in the same process: at
 * LONG characters a quadratic pattern takes thousands of scans, the slowest linear ones some tens.
 */

import process from 'node:process';

/** A head may have 16 KiB. */
export const LONG = 16_384;
/** Scans of LONG characters that a pattern may take for as many; for fewer it is in proportion. */
const MAX_SCANS = 500;
/** And for very few characters, where a pattern of exponential time already takes more. */
const MIN_ALLOWED = 2;
/** Lengths are doubled from here on, so that a pattern is found slow before its time is beyond all limits. */
const FIRST = 16;
/** One of many subjects is left where it takes at most CLEAR scans with this length: a slow one takes 60 and more. */
const BRIEF = 2048;
const CLEAR = 2.5;
/** Single runs are slow where memory is collected in them, and on a busy machine, which also compiles late what it runs often. */
const RUNS = 25;
/** The clock of the processor counts whole microseconds. */
const SCANS_AT_ONCE = 10;

/** A subject of about `length` characters. */
export type Hostile = (length: number) => string;

/** Microseconds of this process's CPU time: on a busy machine every run may be interrupted. */
function timeOf(run: () => unknown): number {
  const begun = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(begun);
  return user + system;
}

function scan(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum = (sum + text.charCodeAt(at)) | 0;
  return sum;
}

/** Microseconds of a scan over LONG characters, of the fastest of many. */
function measureScan(): number {
  const text = `\u2028${'x'.repeat(LONG - 1)}`;
  const scans = () => {
    for (let count = 0; count < SCANS_AT_ONCE; count++) scan(text);
  };
  return Math.min(...Array.from({ length: 50 }, () => timeOf(scans))) / SCANS_AT_ONCE;
}

/** Uses the pattern as the sources do: all matches are looked for where it is global. */
function apply(pattern: RegExp, text: string): void {
  pattern.lastIndex = 0;
  if (pattern.global) text.replaceAll(pattern, '');
  else pattern.exec(text);
}

/** A subject that a pattern is slow at. */
export interface Slow {
  /** A short form of the subject. */
  readonly subject: string;
  readonly length: number;
  /** Linear scans of LONG characters in the time that it takes. */
  readonly scans: number;
}

export class Judge {
  readonly #scanUs = measureScan();

  /** Scans in the time of the fastest of several runs, or of the first that takes at most `enough`. */
  scansOf(run: () => unknown, enough = 0): number {
    let fastest = Number.POSITIVE_INFINITY;
    for (let left = RUNS; left > 0 && fastest > enough; left--)
      fastest = Math.min(fastest, timeOf(run) / this.#scanUs);
    return fastest;
  }

  /** Whether the pattern takes more than linear time for subjects of one kind. `isBrief`: one of many kinds. */
  judge(pattern: RegExp, hostile: Hostile, isBrief = false): Slow | undefined {
    for (let length = FIRST; length <= LONG; length *= 2) {
      const text = hostile(length);
      const allowed = Math.max(MIN_ALLOWED, (MAX_SCANS * length) / LONG);
      const scans = this.scansOf(() => apply(pattern, text), isBrief ? Math.min(CLEAR, allowed) : allowed);
      if (scans > allowed) return { subject: hostile(8), length, scans: Math.round(scans) };
      if (isBrief && length === BRIEF && scans <= CLEAR) return undefined;
    }
    return undefined;
  }

  /** The same for many kinds of subjects: the first that the pattern is slow at. */
  judgeAll(pattern: RegExp, attacks: Iterable<Hostile>): Slow | undefined {
    for (const hostile of attacks) {
      const slow = this.judge(pattern, hostile, true);
      if (slow !== undefined) return slow;
    }
    return undefined;
  }
}
