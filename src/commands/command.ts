/** The registry of commands: one table that HTTP and WebSocket are doors to, so that no flag can be forgotten at one. */
import type { Config } from '../config/schema.ts';
import { ServiceError } from '../errors.ts';

export type Feature = keyof Config['features'];

/** What a door was given, as values: numbers and booleans where it could tell, else the text itself. */
export type Params = Readonly<Record<string, unknown>>;

/** How an answer went: its bytes have left, or its connection has closed. */
export type Delivery = 'sent' | 'closed';

/** Whether what a command is for took it; unknown: nobody could tell. */
export type Delivered = 'true' | 'false' | 'unknown';

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
  readonly run: (checked: Checked) => Outcome | Promise<Outcome>;
}

/** A row whose parameters' type only it knows. */
export interface Command {
  readonly name: string;
  readonly feature: Feature | undefined;
  /** Checks `params` at once; what it returns runs the command. */
  readonly prepare: (params: Params) => () => Outcome | Promise<Outcome>;
}

export function defineCommand<Checked>(row: CommandRow<Checked>): Command {
  return {
    name: row.name,
    feature: row.feature,
    prepare(params) {
      const checked = row.check(params);
      return () => row.run(checked);
    },
  };
}

export class Commands {
  readonly #rows: ReadonlyMap<string, Command>;
  readonly #features: () => Config['features'];

  /** Throws when two rows have one name. */
  constructor(rows: readonly Command[], features: () => Config['features']) {
    this.#rows = new Map(rows.map((row) => [row.name, row]));
    if (this.#rows.size !== rows.length) throw new Error('two commands have the same name');
    this.#features = features;
  }

  get names(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /**
   * Runs a command: flag, parameters, act. Resolves with what to answer, or 'feature_disabled' when its flag is off.
   * Rejects with ServiceError: `unknown_action`, what its check throws, what it runs into.
   */
  async invoke(name: string, params: Params): Promise<Outcome | 'feature_disabled'> {
    const row = this.#rows.get(name);
    if (row === undefined)
      throw new ServiceError('unknown_action', 'There is no such command.', { allowed: this.names });
    if (row.feature !== undefined && !this.#features()[row.feature]) return 'feature_disabled';
    return await row.prepare(params)();
  }
}
