/** Judges the flags and parameters of commands by the table of requests, runs them, and reports every result. */
import type { Caller } from '../access/caller.ts';
import type { Command, Follower, Outcome, Report, Step } from '../commands/command.ts';
import type { CurrentConfig } from '../config/current.ts';
import { featureDisabled, ServiceError } from '../errors.ts';
import { Listeners } from '../listeners.ts';
import type { Params } from '../params.ts';
import { REQUESTS } from './requests.ts';

type StepListener = (command: Pick<Report, 'name' | 'caller'>, step: Step) => void;

export class Commands {
  readonly #rows: ReadonlyMap<string, Command>;
  readonly #config: CurrentConfig;
  readonly #reports = new Listeners<[report: Report]>();
  readonly #steps = new Listeners<Parameters<StepListener>>();

  /** Throws when two rows have one name, and for a row that the table of requests, which has its flag, does not know. */
  constructor(rows: readonly Command[], config: CurrentConfig) {
    this.#rows = new Map(rows.map((row) => [row.name, row]));
    if (this.#rows.size !== rows.length) throw new Error('two commands have the same name');
    for (const { name } of rows)
      if (!REQUESTS.has(name)) throw new Error(`the command ${name} is not in the table of requests`);
    this.#config = config;
  }

  get names(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /** The names of those whose flag is on. */
  get allowed(): readonly string[] {
    return this.names.filter((name) => this.#isAllowed(name));
  }

  /** Calls `listener` after every command, whichever adapter it came through. */
  onReport(listener: (report: Report) => void): void {
    this.#reports.add(listener);
  }

  /** Calls `listener` with each step of a command after its answer. */
  onStep(listener: StepListener): void {
    this.#steps.add(listener);
  }

  /**
   * Checks the flag and the parameters of a command. The function it returns runs the command, once, and rejects with
   * the ServiceErrors of its act. Throws ServiceError: `unknown_action`, `feature_disabled`, and those of its check.
   */
  prepare(name: string, params: Params, caller: Caller): (follower?: Follower) => Promise<Outcome> {
    const row = this.#rows.get(name);
    // Not reported: the name is the caller's own words.
    if (row === undefined)
      throw new ServiceError('unknown_action', 'Unknown command.', { allowed: this.names });
    const report = (answer: Report['answer'], isRefused: boolean, follower?: Follower) =>
      this.#reports.notify({ name, caller, answer, isRefused, follower });
    const reportError = (error: unknown, isRefused: boolean, follower?: Follower) => {
      if (error instanceof ServiceError) report(error, isRefused, follower);
      return error;
    };
    try {
      if (!this.#isAllowed(name)) throw featureDisabled(name.slice(name.indexOf('.') + 1));
      const act = row.prepare(params, caller);
      return async (follower) => {
        try {
          const answer = await act(this.#followed({ name, caller }, follower));
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

  /** The same follower, also for a caller that sent none; the listeners have the steps, too. */
  #followed(command: Pick<Report, 'name' | 'caller'>, follower: Follower | undefined): Follower {
    return {
      owner: command,
      ...follower,
      onStep: (step) => {
        follower?.onStep(step);
        this.#steps.notify(command, step);
      },
    };
  }

  /**
   * Throws `feature_disabled` when no command whose name begins with `prefix` is allowed: for an adapter that must not
   * parse a body, which may name the action, for a feature that is off.
   */
  refuseDisabled(prefix: string, caller: Caller): void {
    if (this.allowed.some((name) => name.startsWith(prefix))) return;
    const answer = featureDisabled(prefix);
    const name = prefix.endsWith('.') ? prefix.slice(0, -1) : prefix;
    this.#reports.notify({ name, caller, answer, isRefused: true, follower: undefined });
    throw answer;
  }

  #isAllowed(name: string): boolean {
    const feature = REQUESTS.get(name)?.feature;
    return feature === undefined || this.#config.current.features[feature];
  }
}
