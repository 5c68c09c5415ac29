/**
 * Requests to a machine, however it is reached: a command of the service's table, or a question. Routes, WebSockets
 * and transports all use these types; `CommandGateway` is where they ask.
 */

import type { Caller } from '../../access/caller.ts';
import type { Step } from '../../commands/command.ts';
import type { Clients } from '../../fairness/fair-queue.ts';
import type { MachineAnswer } from '../../machine/machine.ts';
import type { Params } from '../../params.ts';

export interface Ask {
  /** A question, or the name of a command, such as `media.set_volume`. */
  readonly what: string;
  /** As the service's own table takes them: numbers and booleans are no texts. */
  readonly params: Params;
  readonly who: Caller;
  /** The addresses of all who wait for the answer, `who` among them; more may join. */
  readonly clients?: Clients | undefined;
  /** The last moment at which it may be begun, in milliseconds of the hub's clock (Clock.now). */
  readonly deadlineMs: number;
  /**
   * Called with the steps of a command, as far as the machine reports them (docs/hub-protocol.md). `accepted` precedes the
   * answer.
   */
  readonly onStep?: ((step: Step) => void) | undefined;
  /** Also with `begun`. */
  readonly withBeginning?: boolean | undefined;
}

/** A machine's answer with status 200. */
export interface HostAnswer extends Pick<MachineAnswer, 'delivered' | 'etag' | 'isFollowed'> {
  readonly type: string;
  readonly bytes: Buffer;
}

/** A way to one machine. */
export interface RemoteClient {
  /**
   * Asks once. A command is never sent again once a byte of it may have left, and never begun after its deadline.
   * Rejects with ServiceError: the machine's own; `host_unreachable`: it was not done; `outcome_unknown`: it was sent, and
   * it is unknown whether it was done.
   */
  ask(ask: Ask): Promise<HostAnswer>;
}
