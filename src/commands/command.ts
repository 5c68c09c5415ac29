/** The commands of a machine as its parts offer them: rows without flags or scopes, which the table of requests has. */
import type { Caller } from '../access/caller.ts';
import type { ServiceError } from '../errors.ts';
import type { Params } from '../params.ts';

/** The end of a reply: its bytes have left, or its connection has closed. */
export type Delivery = 'sent' | 'closed';

/** Whether the target accepted the command; `unknown` when it cannot be determined. */
export type Delivered = 'true' | 'false' | 'unknown';

/**
 * A stage of a command. `begun` precedes its answer, `accepted` the answer of one that continues after it; then come
 * `running` and an end. `unknown`: it was accepted, and its outcome was not reported.
 */
export interface Step {
  readonly stage: 'begun' | 'accepted' | 'running' | 'done' | 'failed' | 'cancelled' | 'unknown';
  readonly message: string;
  /** With `accepted`: called once this step has been delivered, because the action comes after it. */
  readonly onDelivered?: Outcome['onDelivered'];
}

/** The sender of a command that is notified of its steps. */
export interface Follower {
  /** Receives an answer of its own, and not the report for all other subscribers. */
  readonly owner: object;
  readonly onStep: (step: Step) => void;
  /** Also notified of `begun`. */
  readonly withBeginning?: boolean;
}

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

/** How a command was answered: its outcome, or its error. */
export interface Report {
  readonly name: string;
  readonly caller: Caller;
  readonly answer: Outcome | ServiceError;
  /** It was not begun: its flag is off, or its parameters are not understood. */
  readonly isRefused: boolean;
  /** The follower it was invoked with. Its owner has the reply and needs no report. */
  readonly follower: Follower | undefined;
}

/** Does a command, or accepts it and does it after the reply. Rejects with ServiceError. */
export type Act = (follower?: Follower) => Outcome | Promise<Outcome>;

export interface Command {
  /** In the table of requests: `power.sleep`. */
  readonly name: string;
  /** Checks the parameters immediately, and returns what runs the command. Throws ServiceError (`missing_field`, `invalid_value`). */
  readonly prepare: (params: Params, caller: Caller) => Act;
}
