/** The dependencies that all machines of a hub share. */
import type { Clock } from '../../clock.ts';
import type { Quota } from '../../fairness/quota.ts';
import type { Listeners } from '../../listeners.ts';
import type { Log } from '../../log/log.ts';
import type { Registry } from '../../machine/registry.ts';
import type { Times } from './times.ts';

/** Figures for /metrics; they only grow. */
export interface Counters {
  /** From agents. */
  samples: number;
  sampleBytes: number;
  connections: number;
  failures: number;
}

export interface RemoteDeps {
  /** The name of this hub for the audit trails of agents: letters, digits, `_` and `-`. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly quota: Quota;
  readonly times: Times;
  readonly counters: Counters;
  /** Absent in tests of one machine. */
  readonly registry?: Pick<Registry, 'recall' | 'note' | 'forget'>;
  /** Notified of the id of a machine whose condition has changed, or that is gone. */
  readonly conditions: Listeners<readonly [id: string]>;
  /** A number from 0 to 1. */
  readonly random: () => number;
}

export const createCounters = (): Counters => ({
  samples: 0,
  sampleBytes: 0,
  connections: 0,
  failures: 0,
});
