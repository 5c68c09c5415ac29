/** The registry of commands: one table that HTTP and WebSocket are doors to, so that no flag can be forgotten at one. */
import type { Config } from '../config/schema.ts';
import { ServiceError } from '../errors.ts';
import type { Params } from '../params.ts';

export type Feature = keyof Config['features'];

/** How an answer went: its bytes have left, or its connection has closed. */
export type Delivery = 'sent' | 'closed';

/** Whether what a command is for took it; unknown: nobody could tell. */
export type Delivered = 'true' | 'false' | 'unknown';

/** What becomes of a command after it was answered. */
export interface Step {
  readonly stage: 'running' | 'done' | 'failed' | 'cancelled';
  readonly message: string;
}

/** Hears of the steps, of which the last is not `running`: for a door that is still there then. */
export type Follower = (step: Step) => void;

export interface Outcome {
  /** What the door answers with. */
  readonly result: Readonly<Record<string, unknown>>;
  /**
   * There when the answer goes before the act: the door answers first, then calls it, once. A door that can't tell
   * how its answer went need not: the act is not put off for long.
   */
  readonly onDelivered?: (delivery: Delivery) => void;
  /** There when the command is answered alike however it went. */
  readonly delivered?: Delivered;
  /** What an honest answer would have been, where it is answered alike. */
  readonly failure?: ServiceError;
  /** There when the answer is not the end of it: a follower is told the rest. */
  readonly isFollowed?: true;
}

/** How a command that was allowed and understood was answered: with an outcome, or what it ran into. */
export interface Report {
  readonly name: string;
  readonly answer: Outcome | ServiceError;
  /** What it was invoked with: who asked needs no report. */
  readonly follower: Follower | undefined;
}

/** A row of the table. */
export interface CommandRow<Checked> {
  /** `power.sleep`. */
  readonly name: string;
  /** The flag that allows it; undefined: always allowed. */
  readonly feature: Feature | undefined;
  /** What `run` is given. Throws ServiceError (`missing_field`, `invalid_value`). */
  readonly check: (params: Params) => Checked;
  /** Does it, or accepts it and does it after the answer. Rejects with ServiceError. */
  readonly run: (checked: Checked, follower?: Follower) => Outcome | Promise<Outcome>;
}

/** A row whose parameters' type only it knows. */
export interface Command {
  readonly name: string;
  readonly feature: Feature | undefined;
  /** Checks `params` at once; what it returns runs the command. */
  readonly prepare: (params: Params) => (follower?: Follower) => Outcome | Promise<Outcome>;
}

export function defineCommand<Checked>(row: CommandRow<Checked>): Command {
  return {
    name: row.name,
    feature: row.feature,
    prepare(params) {
      const checked = row.check(params);
      return (follower) => row.run(checked, follower);
    },
  };
}

export class Commands {
  readonly #rows: ReadonlyMap<string, Command>;
  readonly #features: () => Config['features'];
  readonly #onReport: (report: Report) => void;

  /** `onReport`: told of every command that ran, whichever door it came through. Throws when two rows have one name. */
  constructor(
    rows: readonly Command[],
    features: () => Config['features'],
    onReport: (report: Report) => void = () => undefined,
  ) {
    this.#rows = new Map(rows.map((row) => [row.name, row]));
    if (this.#rows.size !== rows.length) throw new Error('two commands have the same name');
    this.#features = features;
    this.#onReport = onReport;
  }

  get names(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /**
   * Runs a command: flag, parameters, act. Resolves with what to answer, or 'feature_disabled' when its flag is off.
   * Rejects with ServiceError: `unknown_action`, what its check throws, what it runs into.
   */
  async invoke(name: string, params: Params): Promise<Outcome | 'feature_disabled'> {
    const run = this.prepare(name, params);
    return run === 'feature_disabled' ? run : await run();
  }

  /**
   * The first half of `invoke`, for a door that says when it begins: flag and parameters. What it returns runs the
   * command, once. Throws ServiceError as `invoke` rejects.
   */
  prepare(name: string, params: Params): ((follower?: Follower) => Promise<Outcome>) | 'feature_disabled' {
    const row = this.#rows.get(name);
    if (row === undefined)
      throw new ServiceError('unknown_action', 'There is no such command.', { allowed: this.names });
    if (row.feature !== undefined && !this.#features()[row.feature]) return 'feature_disabled';
    const run = row.prepare(params);
    return async (follower) => {
      try {
        const answer = await run(follower);
        this.#onReport({ name, answer, follower });
        return answer;
      } catch (error) {
        if (error instanceof ServiceError) this.#onReport({ name, answer: error, follower });
        throw error;
      }
    };
  }
}
