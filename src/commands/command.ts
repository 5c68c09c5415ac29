/** The table of commands. HTTP and WebSocket are adapters to it, so that each rule is applied in one place. */

import type { Config } from '../config/config.ts';
import type { CurrentConfig } from '../config/current.ts';
import { featureDisabled, ServiceError } from '../errors.ts';
import { Listeners } from '../listeners.ts';
import type { Params } from '../params.ts';

export type Feature = keyof Config['features'];

/** The end of a reply: its bytes have left, or its connection has closed. */
export type Delivery = 'sent' | 'closed';

/** Whether the target accepted the command; `unknown` when it cannot be determined. */
export type Delivered = 'true' | 'false' | 'unknown';

/** The progress of a command after its reply. */
export interface Step {
  readonly stage: 'running' | 'done' | 'failed' | 'cancelled';
  readonly message: string;
}

/** Is called with each step; only the last one is not `running`. */
export type Follower = (step: Step) => void;

export interface Outcome {
  /** The reply. */
  readonly result: Readonly<Record<string, unknown>>;
  /**
   * Present when the reply goes before the act: the adapter replies first, then calls it, once. An adapter that cannot
   * determine how its reply went need not call it: the act is not put off for long.
   */
  readonly onDelivered?: (delivery: Delivery) => void;
  /** Present for commands whose reply is the same however they went. */
  readonly delivered?: Delivered;
  /** The error, where the HTTP reply is ok all the same (media commands). */
  readonly failure?: ServiceError;
  /** Present when the command continues after the reply: the follower receives the rest. */
  readonly isFollowed?: true;
}

/** The sentence of a command's result. */
export const sentenceOf = ({ message }: Readonly<Record<string, unknown>>): string =>
  typeof message === 'string' ? message : 'Done';

/** The client that a command comes from. */
export interface Sender {
  readonly address: string;
  /** It sent the key. */
  readonly isKeyed: boolean;
  /** The name of that key. */
  readonly key?: string | undefined;
  /** The hub that it asked, and the name of its key there; absent: it asked this service. */
  readonly via?: { readonly hub: string; readonly key: string | undefined };
}

/** How a command was answered: its outcome, or its error. */
export interface Report {
  readonly name: string;
  readonly sender: Sender;
  readonly answer: Outcome | ServiceError;
  /** It was not begun: its flag is off, or its parameters are not understood. */
  readonly isRefused: boolean;
  /** The follower it was invoked with. Its owner has the reply and needs no report. */
  readonly follower: Follower | undefined;
}

/** A row of the table. */
export interface CommandRow<Checked> {
  /** `power.sleep`. */
  readonly name: string;
  /** The flag that allows it; undefined: always allowed. */
  readonly feature: Feature | undefined;
  /** Turns parameters into the argument of `run`. Throws ServiceError (`missing_field`, `invalid_value`). */
  readonly check: (params: Params) => Checked;
  /** Does it, or accepts it and does it after the reply. Rejects with ServiceError. */
  readonly run: (
    checked: Checked,
    follower: Follower | undefined,
    sender: Sender,
  ) => Outcome | Promise<Outcome>;
}

/** A row without the type of its parameters. */
export interface Command {
  readonly name: string;
  readonly feature: Feature | undefined;
  /** Checks `params` immediately; the function it returns runs the command. */
  readonly prepare: (params: Params, sender: Sender) => (follower?: Follower) => Outcome | Promise<Outcome>;
}

export function defineCommand<Checked>(row: CommandRow<Checked>): Command {
  return {
    name: row.name,
    feature: row.feature,
    prepare(params, sender) {
      const checked = row.check(params);
      return (follower) => row.run(checked, follower, sender);
    },
  };
}

export class Commands {
  readonly #rows: ReadonlyMap<string, Command>;
  readonly #config: CurrentConfig;
  readonly #reports = new Listeners<[report: Report]>();

  /** Throws when two rows have one name. */
  constructor(rows: readonly Command[], config: CurrentConfig) {
    this.#rows = new Map(rows.map((row) => [row.name, row]));
    if (this.#rows.size !== rows.length) throw new Error('two commands have the same name');
    this.#config = config;
  }

  get names(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /** The names of those whose flag is on. */
  get allowed(): readonly string[] {
    return [...this.#rows.values()].filter((row) => this.#isAllowed(row)).map(({ name }) => name);
  }

  /** Calls `listener` after every command, whichever adapter it came through. */
  onReport(listener: (report: Report) => void): void {
    this.#reports.add(listener);
  }

  /**
   * Checks the flag and the parameters of a command. The function it returns runs the command, once, and rejects with
   * the ServiceErrors of its act. Throws ServiceError: `unknown_action`, `feature_disabled`, and those of its check.
   */
  prepare(name: string, params: Params, sender: Sender): (follower?: Follower) => Promise<Outcome> {
    const row = this.#rows.get(name);
    // Not reported: the name is the sender's own words.
    if (row === undefined)
      throw new ServiceError('unknown_action', 'There is no such command.', { allowed: this.names });
    const report = (answer: Report['answer'], isRefused: boolean, follower?: Follower) =>
      this.#reports.notify({ name, sender, answer, isRefused, follower });
    const reportError = (error: unknown, isRefused: boolean, follower?: Follower) => {
      if (error instanceof ServiceError) report(error, isRefused, follower);
      return error;
    };
    try {
      if (!this.#isAllowed(row)) throw featureDisabled(actionOf(name));
      const run = row.prepare(params, sender);
      return async (follower) => {
        try {
          const answer = await run(follower);
          report(answer, false, follower);
          return answer;
        } catch (error) {
          throw reportError(error, false, follower);
        }
      };
    } catch (error) {
      throw reportError(error, true);
    }
  }

  /**
   * Throws `feature_disabled` when no command whose name begins with `prefix` is allowed: for an adapter that must not
   * parse a body, which may name the action, for a feature that is off.
   */
  refuseDisabled(prefix: string): void {
    const rows = [...this.#rows.values()].filter(({ name }) => name.startsWith(prefix));
    if (!rows.some((row) => this.#isAllowed(row))) throw featureDisabled(prefix);
  }

  #isAllowed({ feature }: Command): boolean {
    return feature === undefined || this.#config.current.features[feature];
  }
}

const actionOf = (name: string) => name.slice(name.indexOf('.') + 1);
