/** The table that `hostwire doctor` prints: one row a section, what it comes from, and what to do where it is missing. */

import type { Counters } from '../../host/host.ts';

/** What rows are made from. */
export interface Reading {
  /** With detail, and late enough for every prober to have answered that is going to. */
  readonly counters: Counters;
  /** Where /proc and /sys are. */
  readonly proc: string;
  readonly sys: string;
}

export interface Row {
  /** One word in lower case; no other row has it. */
  readonly section: string;
  /** 'partly': it serves, with something missing. */
  readonly state: 'ok' | 'partly' | 'missing';
  /** What was found, and where. */
  readonly source: string;
  /** Why it is not ok. */
  readonly reason?: string;
  /** What it would take: a group, a module, a package, a setting. */
  readonly remedy?: string;
}

/** Reasons and remedies stand on lines of their own below their row. */
export function printRows(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ section }) => section.length));
  const below = ' '.repeat(width + 2 + 'missing'.length + 2);
  const lines = rows.flatMap(({ section, state, source, reason, remedy }) => [
    `${section.padEnd(width)}  ${state.padEnd('missing'.length)}  ${source}`,
    ...(reason === undefined ? [] : [`${below}why: ${reason}`]),
    ...(remedy === undefined ? [] : [`${below}try: ${remedy}`]),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}
