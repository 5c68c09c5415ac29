/** One row of the table of cards (table.ts). */
import type { JSX } from 'preact';
import type { Point } from '../history.ts';
import type { Sum } from '../past.ts';
import type { Capability, Sample, System } from '../sample.ts';

export interface CardProps {
  readonly sample: Sample;
  /** Undefined until it has been read. */
  readonly system: System | undefined;
}

/**
 * A feature that this machine or its configuration may lack; the reason is undefined if it has it. The page shows it only
 * with the scope that the feature needs.
 */
export type Absence = readonly [label: string, reason: string | undefined, scope?: string];

export interface CardRow {
  /** null while the card is empty. */
  readonly Card: (props: CardProps) => JSX.Element | null;
  /** For a page that may not read: the commands that its key allows; null if it allows none. */
  readonly Acts?: () => JSX.Element | null;
  /** The points of its charts in one sample, by names of series that the service's history uses too. */
  readonly points?: (sample: Sample) => readonly (readonly [series: string, point: Point])[];
  /** The series of the service's history that fill its charts, where `*` stands for any text. */
  readonly kept?: readonly string[];
  /** Series that are sums of the service's series. */
  readonly sums?: (sample: Sample) => readonly Sum[];
  /** For the card of unavailable features. */
  readonly absences?: (sample: Sample, system: System) => readonly Absence[];
}

/** Returns why a capability cannot be used; `flag` is its key of `features`. */
export function whyNot({ enabled, supported, reason }: Capability, flag: string): string | undefined {
  if (!enabled) return `disabled in the configuration (features.${flag})`;
  return supported ? undefined : (reason ?? 'not supported');
}
