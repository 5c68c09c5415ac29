/** What one row of the table of cards (table.ts) consists of. */
import type { JSX } from 'preact';
import type { Point } from '../history.ts';
import type { Sum } from '../past.ts';
import type { Capability, Sample, System } from '../sample.ts';

export interface CardProps {
  readonly sample: Sample;
  /** Undefined until it has been read. */
  readonly system: System | undefined;
}

/** Something that this machine or its configuration may not offer; the reason is undefined where it does. */
export type Absence = readonly [label: string, reason: string | undefined];

export interface CardRow {
  /** null while there is nothing to show. */
  readonly Card: (props: CardProps) => JSX.Element | null;
  /** The points of its charts in one sample, by the names of series that the service's history has too. */
  readonly points?: (sample: Sample) => readonly (readonly [series: string, point: Point])[];
  /** The series of the service's history that its charts are filled from, where `*` stands for any text. */
  readonly kept?: readonly string[];
  /** Its series that the service does not keep as such. */
  readonly sums?: (sample: Sample) => readonly Sum[];
  /** For the card that lists what is not available. */
  readonly absences?: (sample: Sample, system: System) => readonly Absence[];
}

/** Why a capability cannot be used; `flag` is its key of `features`. */
export function whyNot({ enabled, supported, reason }: Capability, flag: string): string | undefined {
  if (!enabled) return `switched off in the configuration (features.${flag})`;
  return supported ? undefined : (reason ?? 'not supported');
}
