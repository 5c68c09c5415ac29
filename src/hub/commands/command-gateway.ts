/** Carries out commands of clients on machines: judges them by `hub.commands`, gives each its deadline, and writes the audit trail. */

import type { Caller } from '../../access/caller.ts';
import type { Clock } from '../../clock.ts';
import { audit, auditEnd, auditRefusal } from '../../commands/audit.ts';
import type { Step } from '../../commands/command.ts';
import type { Config } from '../../config/config.ts';
import { ServiceError } from '../../errors.ts';
import { Listeners } from '../../listeners.ts';
import type { Log } from '../../log/log.ts';
import type { CommandEnd, MachineAnswer, MachineRequest } from '../../machine/machine.ts';
import type { Commanded, Commander, Times } from '../../machine/remote-deps.ts';
import { REQUESTS, type RequestRow } from '../../machine/requests.ts';
import { type Scopes, scopesOf } from '../../scopes.ts';
import { CommandRules } from './command-rules.ts';
import { SuspendDetector } from './suspend-detector.ts';

const COMMANDS = [...REQUESTS.values()].filter(({ isCommand }) => isCommand);

const scopesOfAll = (rows: readonly RequestRow[]): Scopes => scopesOf(rows.map(({ scope }) => scope));

export interface CommandGatewayOptions {
  readonly rules: Config['hub']['commands'];
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  readonly times: Pick<Times, 'commandMs'>;
  readonly log: Pick<Log, 'audit'>;
  /** The first machine that can wake another one, and its name for that; undefined: none can. */
  readonly wakerOf: (host: Commanded) => { readonly machine: Commanded; readonly target: string } | undefined;
}

export class CommandGateway implements Commander {
  readonly #options: CommandGatewayOptions;
  readonly #suspends: SuspendDetector;
  #rules: CommandRules;
  /** Notified of the ends of all commands, over every transport. */
  readonly ends = new Listeners<readonly [end: CommandEnd]>();

  constructor(options: CommandGatewayOptions) {
    this.#options = options;
    this.#suspends = new SuspendDetector(options.clock);
    this.#rules = new CommandRules(options.rules);
  }

  close(): void {
    this.#suspends.close();
  }

  reconfigure(rules: Config['hub']['commands']): void {
    this.#rules = new CommandRules(rules);
  }

  /** Throws `command_not_allowed`. `command`: also `media.*`, before it is known which of its group is meant. */
  check(host: Commanded, command: string, client: Caller): void {
    try {
      this.#rules.check(client, command, host);
    } catch (error) {
      // The name of its group.
      const [name = ''] = command.split('.*');
      auditRefusal(this.#options.log, { name, caller: client, host: host.id }, 'command_not_allowed');
      throw error;
    }
  }

  /** Returns the client's scopes without those of which `hub.commands` allows it no command on this machine. */
  scopesAt(host: Commanded, client: Caller): Scopes {
    const usable = COMMANDS.filter(({ name }) => this.#rules.allows(client, name, host));
    return client.scopes & ~(scopesOfAll(COMMANDS) & ~scopesOfAll(usable));
  }

  /**
   * The machine's answer. Rejects with ServiceError: the machine's own codes, and `command_not_allowed`, `host_unreachable` (it
   * was not done), `outcome_unknown` (it may have been).
   */
  async command(
    host: Commanded,
    { what, params, client: who, follower }: MachineRequest,
  ): Promise<MachineAnswer> {
    const { clock, times, log } = this.#options;
    const audited = { name: nameOf(what), caller: who, host: host.id };
    const notify = (end: CommandEnd['end']) =>
      this.ends.notify({ host: host.id, what, end, owners: follower === undefined ? [] : [follower.owner] });
    const onStep = (step: Step) => {
      follower?.onStep(step);
      auditEnd(log, audited, step);
      // As a service: of one that was cancelled the cancel is reported.
      if (step.stage === 'done' || step.stage === 'failed') notify(step);
    };
    try {
      this.#rules.check(who, what, host);
      if (this.#suspends.isRecent) throw stoodStill();
      const waker = what === 'wake.wake' && params['host'] === undefined ? this.#wakerOf(host) : undefined;
      const answer = await (waker?.machine ?? host).send({
        what,
        params: waker === undefined ? params : { host: waker.target },
        client: who,
        deadlineMs: clock.now() + times.commandMs,
        onStep,
        withBeginning: follower?.withBeginning,
      });
      if (answer.isFollowed !== true) notify(answer);
      const outcome = answer.isFollowed === true ? 'accepted' : 'done';
      const by = waker?.machine.id;
      audit(log, audited, answer.delivered === 'false' ? 'failed' : outcome, { by });
      if (by === undefined) return answer;
      return { ...answer, bytes: `{"by":${JSON.stringify(by)},${answer.bytes.toString().slice(1)}` };
    } catch (error) {
      if (error instanceof ServiceError) {
        auditRefusal(log, audited, error.code);
        notify(error);
      }
      throw error;
    }
  }

  /** Another machine wakes one that is not up; one that is up is asked itself. Throws ServiceError. */
  #wakerOf(host: Commanded) {
    if (host.isUp) return undefined;
    const waker = this.#options.wakerOf(host);
    if (waker !== undefined) return waker;
    const reason = 'no machine of this hub that is up has it in wake.hosts';
    throw new ServiceError('host_unreachable', 'No machine of this hub can wake it.', { reason });
  }
}

/** An unknown action is the client's own words. */
function nameOf(what: string): string {
  const [group = '', action = ''] = what.split('.', 2);
  return `${group}.${/^[a-z_]{1,32}$/.test(action) ? action : 'unknown action'}`;
}

const stoodStill = () =>
  new ServiceError('host_unreachable', 'The hub was suspended; the command may be stale and was not sent.', {
    reason: 'the hub was suspended',
  });
