/** The dependencies of machines elsewhere: what all of a hub share, and how long it waits for what. */
import type { Caller } from '../access/caller.ts';
import type { Clock } from '../clock.ts';
import type { Listeners } from '../listeners.ts';
import type { Log } from '../log/log.ts';
import type { Scopes } from '../scopes.ts';
import type { Failure } from '../socket/carrier.ts';
import type { RemoteAnswer, RemoteRequest, RequestLimits } from '../socket/requests.ts';
import type { MachineAnswer, MachineRequest } from './machine.ts';
import type { Registry } from './registry.ts';

/** How long a hub waits for what, in milliseconds. Tests have shorter ones. */
export interface Times {
  /** For a command, until it is begun; and for a question. */
  readonly commandMs: number;
  readonly questionMs: number;
  /** For the answer to a command, after its deadline: it may have been begun at the last moment. */
  readonly answerMs: number;
  /** For a connection to a machine, its greeting, and the answer to a ping. */
  readonly headMs: number;
  /** Without a message for this long a machine is pinged, where it has viewers. */
  readonly quietMs: number;
  readonly initialDelayMs: number;
  /** The longest delay before the next attempt, while the machine is wanted or was lost less than half a minute ago. */
  readonly maxDelayMs: number;
  /** The same of a machine that has been off for long, which costs an attempt each time. */
  readonly offDelayMs: number;
  /** The longest delay after a machine has sent more than is taken: each attempt lets it send that much again. */
  readonly floodMs: number;
  /** For the first sample, while its viewer waits for the head of the answer. */
  readonly firstSampleMs: number;
  /** Time for which what has no viewers is still asked for, because pages are loaded again. */
  readonly shrinkMs: number;
}

export const TIMES: Times = {
  commandMs: 5000,
  questionMs: 10_000,
  answerMs: 10_000,
  headMs: 5000,
  quietMs: 5000,
  initialDelayMs: 250,
  // Streams continue within 5 s of the end of an outage.
  maxDelayMs: 4000,
  offDelayMs: 60_000,
  floodMs: 20_000,
  firstSampleMs: 10_000,
  shrinkMs: 10_000,
};

/** Figures for /metrics; they only grow. */
export interface Counters {
  /** From machines. */
  samples: number;
  sampleBytes: number;
  connections: number;
  failures: number;
}

/** A machine that commands are for. */
export interface Commanded {
  readonly id: string;
  readonly name: string;
  readonly isUp: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Asks once, as Requests.ask. */
  send(request: RemoteRequest): Promise<RemoteAnswer>;
}

/** Judges commands of clients, and gives each its deadline. */
export interface Commander {
  /** Carries it out by `machine.send`. Rejects with ServiceError. */
  command(machine: Commanded, request: MachineRequest): Promise<MachineAnswer>;
  /** Throws `command_not_allowed`. `name`: also `media.*`, before it is known which of its group is meant. */
  check(machine: Commanded, name: string, client: Caller): void;
  /** Returns the scopes of a client without those of which it may use nothing on this machine. */
  scopesAt(machine: Commanded, client: Caller): Scopes;
}

/** The dependencies that all machines of a hub share. */
export interface RemoteDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly times: Times;
  readonly counters: Counters;
  readonly limits: RequestLimits;
  readonly commander: Commander;
  /** Absent in tests of one machine. */
  readonly registry?: Pick<Registry, 'recall' | 'note' | 'forget' | 'usage' | 'system' | 'takeUsage'>;
  /** Notified of the id of a machine whose condition has changed, or that is gone. */
  readonly conditions: Listeners<readonly [id: string]>;
  /** A number from 0 to 1. */
  readonly random: () => number;
}

export interface RemoteOptions {
  readonly hub: RemoteDeps;
  /** The name and labels in this hub's configuration; absent: those that the machine reports. */
  readonly entry?: () => {
    readonly name?: string | undefined;
    readonly labels?: Readonly<Record<string, string>>;
  };
  /** Without a message for this long a machine without viewers is pinged; as with viewers if absent. */
  readonly unwatchedMs?: number;
  /** Its session has ended, or none began. `hadBegun`: the machine had greeted. */
  readonly onEnd?: (failure: Failure, hadBegun: boolean) => void;
  /** A viewer wants it while it is not up. */
  readonly onMissed?: () => void;
  /** It has greeted with other labels than before. */
  readonly onLabels?: () => void;
}
