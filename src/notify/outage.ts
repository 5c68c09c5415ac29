/** What one target knows of an event, from its beginning to its end, and the form in which a file keeps it. */
import type { MachineEvent } from '../wire/events.ts';

/** `dropped`: the beginning was counted or refused, so its end is not sent either. */
export type OutageState = 'waiting' | 'sent' | 'dropped';

export interface Outage {
  readonly key: string;
  readonly begin: MachineEvent;
  end: MachineEvent | undefined;
  state: OutageState;
  /** When its next message is due, on the clock of intervals. */
  dueAtMs: number;
  /** The feed has reported it since the service has started. */
  isConfirmed: boolean;
}

/** The state of a target between two runs of the service; times are distances from the moment of writing. */
export interface Kept {
  readonly outages: readonly (Pick<Outage, 'begin' | 'state'> & {
    readonly end?: MachineEvent | undefined;
    readonly dueInMs: number;
  })[];
  /** How long ago messages were sent in the last hour. */
  readonly sentAgoMs: readonly number[];
  /** Outages that were dropped, and are not counted in a message yet. */
  readonly uncounted: number;
}

export const NOTHING_KEPT: Kept = { outages: [], sentAgoMs: [], uncounted: 0 };
