/** Waking other machines: the command's row in the table of commands. */
import type { CurrentConfig } from '../config/current.ts';
import type { WakeEntry } from '../config/rows/key-table.ts';
import { codeOf, messageOf, ServiceError } from '../errors.ts';
import { PLACES } from '../fairness/limits.ts';
import type { WakeHost } from '../host/wake.ts';
import type { Log } from '../log/log.ts';
import { checkParams } from '../params.ts';
import { describeSent, type WakeResult, wakeMachine } from '../wake/wake.ts';
import { wakeRequest } from '../wire/requests.ts';
import type { WakeCapability, WakeFeedback } from '../wire/wake.ts';
import type { Command, Outcome } from './command.ts';

export interface WakeControlOptions {
  readonly host: Pick<WakeHost, 'readBroadcastAddresses'>;
  readonly config: CurrentConfig;
  readonly log: Log;
}

export class WakeControl {
  readonly #options: WakeControlOptions;
  /** Concurrent requests for the same machine share the packets: they cost the network, not this service. */
  readonly #underWay = new Map<string, Promise<WakeResult>>();
  #sending = 0;
  /** Each begins one that waits. */
  readonly #waiting: (() => void)[] = [];

  constructor(options: WakeControlOptions) {
    this.#options = options;
  }

  capability(): WakeCapability {
    const { features, wake } = this.#options.config.current;
    const hosts = features.enable_wake ? Object.keys(wake.hosts) : [];
    return { enabled: features.enable_wake, supported: true, reason: null, hosts };
  }

  /** Rejects with ServiceError: `not_found`, `not_possible_now`, `action_failed`. */
  async wake(name: string): Promise<Outcome> {
    const { mac, targets, failure } = await this.#send(name, this.#find(name));
    const details = { name, mac, targets, reason: failure };
    if (targets.length === 0)
      throw new ServiceError('not_possible_now', `${name} cannot be woken from here: ${failure}.`, details);
    if (failure !== undefined)
      throw new ServiceError('action_failed', `No packets for ${name} were sent: ${failure}.`, details);
    const where = targets.map(describeSent).join(', ');
    this.#options.log.info(`wake: packets for ${name} (${mac}) to ${where}`);
    const message = `Sent packets for ${name} to ${where}.`;
    return feedback({ success: true, action: 'wake', message, final: true, name, mac, targets });
  }

  #find(name: string): WakeEntry {
    const { hosts } = this.#options.config.current.wake;
    const entry = Object.hasOwn(hosts, name) ? hosts[name] : undefined;
    if (entry !== undefined) return entry;
    // Everyone who gets here may wake them, and so may know them.
    const allowed = Object.keys(hosts);
    const known = allowed.length === 0 ? 'it is empty' : `it has ${allowed.join(', ')}`;
    throw new ServiceError('not_found', `Unknown machine; wake.hosts of the configuration: ${known}.`, {
      allowed,
    });
  }

  async #send(name: string, entry: WakeEntry): Promise<WakeResult> {
    let result = this.#underWay.get(name);
    if (result === undefined) {
      result = this.#sendInTurn(entry).finally(() => this.#underWay.delete(name));
      this.#underWay.set(name, result);
    }
    return await result.catch(fail);
  }

  async #sendInTurn(entry: WakeEntry): Promise<WakeResult> {
    if (this.#sending >= PLACES.wakes.max) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#sending++;
    try {
      return await wakeMachine(entry, () => this.#options.host.readBroadcastAddresses());
    } finally {
      // The one that waits takes this place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#sending--;
      else next();
    }
  }
}

/** The reply. */
const feedback = (result: WakeFeedback): Outcome => ({ result: { ...result } });

function fail(error: unknown): never {
  if (codeOf(error) === 'ENOTSUP')
    throw new ServiceError('not_supported', 'Machines cannot be woken from this platform.');
  const reason = messageOf(error);
  throw new ServiceError('action_failed', 'Cannot list the network interfaces.', { reason });
}

/** `wake.wake`. */
export function wakeCommands(control: WakeControl): readonly Command[] {
  return [
    {
      name: 'wake.wake',
      prepare(params) {
        const { host } = checkParams(wakeRequest, params);
        return () => control.wake(host);
      },
    },
  ];
}
