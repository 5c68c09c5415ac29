/** Power commands on a clock and a power manager that a test owns: nothing here can reach a machine. */
import type { Follower, Outcome } from '#src/commands/command.js';
import { Power, powerCommands } from '#src/commands/power.js';
import type { PowerBackend, Support } from '#src/commands/power-backend.js';
import type { PowerFeedback } from '#src/commands/power-queue.js';
import { type Config, DEFAULT_CONFIG } from '#src/config/config.js';
import type { ServiceError } from '#src/errors.js';
import type { PowerAction } from '#src/host/power.js';
import { createLog } from '#src/log/log.js';
import { Commands } from '#src/machine/commands.js';
import type { Params } from '#src/params.js';
import type { Inhibitor } from '#src/wire/power.js';
import { invoke, refusalOf } from '../invoke.ts';
import { FakeClock } from './clock.ts';
import { FakeConfig } from './config.ts';
import { SENDER } from './sender.ts';

export const EVERYTHING_ON: Config['features'] = {
  ...DEFAULT_CONFIG.features,
  enable_restart: true,
  enable_shutdown: true,
};

export interface Act {
  readonly action: PowerAction;
  readonly isForced: boolean;
  readonly atMs: number;
}

/** A power manager that does nothing: returns scripted answers and records requests. */
export class FakeBackend implements PowerBackend {
  readonly unsupported = new Map<PowerAction, string>();
  readonly acts: Act[] = [];
  present: readonly Inhibitor[] = [];
  failure: Error | undefined;
  /** While true, an act lasts until the test calls `finish`. */
  isSlow = false;
  finish: () => void = () => undefined;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  async support(action: PowerAction): Promise<Support> {
    const reason = this.unsupported.get(action);
    return reason === undefined ? { isSupported: true, reason: null } : { isSupported: false, reason };
  }

  async act(action: PowerAction, { isForced }: { readonly isForced: boolean }): Promise<void> {
    this.acts.push({ action, isForced, atMs: this.#now() });
    if (this.failure !== undefined) throw this.failure;
    if (this.isSlow)
      await new Promise<void>((resolve) => {
        this.finish = resolve;
      });
  }

  async inhibitors(): Promise<readonly Inhibitor[]> {
    return this.present;
  }

  get actions(): readonly PowerAction[] {
    return this.acts.map(({ action }) => action);
  }
}

export class PowerRig {
  readonly clock = new FakeClock();
  /** Time asleep: added to the wall clock, but not to the clock above. */
  sleptMs = 0;
  readonly startUnixMs = 1_700_000_000_000;
  readonly backend = new FakeBackend(() => this.clock.now() - 1000);
  readonly feedback: PowerFeedback[] = [];
  /** For each feedback, the followers that had already heard of it. */
  readonly heard: ReadonlySet<Follower>[] = [];
  changed = 0;
  readonly log: string[] = [];
  readonly config = new FakeConfig(EVERYTHING_ON);
  readonly power: Power;
  readonly commands: Commands;

  constructor() {
    this.power = new Power({
      backend: this.backend,
      clock: this.clock,
      unixMs: () => this.startUnixMs + this.sleptMs + this.clock.now() - 1000,
      config: this.config,
      log: createLog((line) => this.log.push(line.trim()), 'info'),
    });
    this.power.onFeedback((feedback, followers) => {
      this.feedback.push(feedback);
      this.heard.push(followers);
    });
    this.power.onChange(() => this.changed++);
    this.commands = new Commands(powerCommands(this.power), this.config);
  }

  /** Invokes `power.<action>` and expects it to be answered. */
  async ask(action: string, params: Params = {}): Promise<Outcome> {
    return await invoke(this.commands, `power.${action}`, params, SENDER);
  }

  /** Asks, and reports immediately that the answer has been sent. */
  async askAndSend(action: string, params: Params = {}): Promise<void> {
    (await this.ask(action, params)).onDelivered?.('sent');
  }

  /** Asks, and returns the error of the refusal. */
  async refusal(action: string, params: Params = {}): Promise<ServiceError> {
    return await refusalOf(this.ask(action, params));
  }
}
