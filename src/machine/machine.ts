/** A machine as viewers see it: its state, samples of a view, topics and requests. Local, or elsewhere. */
import type { Caller } from '../access/caller.ts';
import type { Delivered, Follower, Outcome, Step } from '../commands/command.ts';
import type { ServiceError } from '../errors.ts';
import type { Params } from '../params.ts';
import type { View } from '../stats/view.ts';
import type { MachineSample, MachineSamples } from '../streams/sample.ts';

export interface MachineRequest {
  /** A name in the table of requests (requests.ts), or a command that only the machine knows. */
  readonly what: string;
  readonly params: Params;
  readonly client: Caller;
  readonly follower?: Follower | undefined;
}

export interface MachineAnswer {
  /** The content type of a picture; absent or `application/json`: JSON. */
  readonly type?: string;
  readonly bytes: Buffer | string;
  /** The same JSON as text, where there is one. */
  readonly json?: string;
  /** The version of the answer. */
  readonly etag?: string;
  /** For media commands: whether the player has accepted it. */
  readonly delivered?: Delivered;
  /** The error of a command whose answer is the same however it went. */
  readonly failure?: ServiceError;
  /** The command continues: its follower receives further steps. */
  readonly isFollowed?: true;
  /** As Outcome.onDelivered. Not called where the follower was notified of `accepted`. */
  readonly onDelivered?: Outcome['onDelivered'];
}

/** How a command has ended, or why it has not, for the subscribers of its topic. */
export interface CommandEnd {
  /** The id of the machine. */
  readonly host: string;
  /** The name of the command. */
  readonly what: string;
  readonly end: MachineAnswer | Step | ServiceError;
  /** The owners of its followers. */
  readonly owners: readonly object[];
}

/** The receiver of a topic. */
export interface TopicSink {
  /** `json`: the payload, an object. */
  readonly onPayload: (json: string) => void;
  /** The topic may have changed: it is to be read. */
  readonly onChange: () => void;
  /** Earlier payloads may be old: the machine is gone, or has started again. */
  readonly onLost: () => void;
}

export interface FollowedTopic {
  readonly end: () => void;
  /** No change is lost on its way. */
  readonly isReliable: boolean;
}

export interface Machine extends MachineSamples {
  readonly id: string;
  /** Whether it is there, since when, and why not. */
  readonly condition: object;
  /**
   * Calls `begin` with a sample to begin a stream with, in this turn where there is one; the samples of `view` keep coming
   * until it has returned. `isNextNear`: the next sample comes so soon that the stream skips it. Rejects with ServiceError.
   */
  first<T>(view: View, begin: (sample: MachineSample, isNextNear: boolean) => T): T | Promise<T>;
  /** The payload of one sample, at most 0.9 s old. Rejects with ServiceError. */
  usage(view: View, client: Caller): Promise<Buffer>;
  /** Answers a question or carries out a command, once. Rejects with ServiceError. */
  ask(request: MachineRequest): Promise<MachineAnswer>;
  /**
   * Throws ServiceError where no command of this name is possible for `client`, whatever its parameters. `name`: also a
   * group, such as `media.`, before the action is known.
   */
  check(name: string, client: Caller): void;
  /** Follows a topic, or `events`; undefined: the machine does not report its changes. */
  followTopic(name: string, sink: TopicSink): FollowedTopic | undefined;
  /** Whether there can be events now: its history is on. */
  hasEvents(): boolean | Promise<boolean>;
}

/** The JSON of an answer. */
export const textOf = ({ json, bytes }: MachineAnswer): string => json ?? bytes.toString();
