/** The messages of /api/ws in the types of this module. */
import { membersOf, parseJson } from '../json.ts';
import type { MachineEvent } from '../wire/events.ts';
import type { HistoryPayload, ProcessHistoryPayload } from '../wire/history.ts';
import type { ProcessDetailsPayload } from '../wire/process.ts';
import type { TopicEvents, TopicName } from '../wire/topics.ts';
import type { WakeTarget } from '../wire/wake.ts';
import type { ConnectionState } from './lasting.ts';
import type { Section, StatsPayload } from './payload.ts';

export type Topic = 'stats' | `stats.${Section}` | Section | TopicName | 'events';

/** The progress of a command; with `final`, its result. */
export interface Feedback {
  readonly success: boolean;
  readonly action: string;
  /** A sentence for people. */
  readonly message: string;
  readonly final: boolean;
  readonly stage?: 'accepted' | 'running' | 'done' | 'failed' | 'cancelled';
  /** Why it failed: NOT_FOUND, NOT_SUPPORTED, CONFLICT, PROTECTED, TIMEOUT, INTERNAL. */
  readonly code?: string;
}

export interface ProcessCommandFeedback extends Feedback {
  readonly pid?: number;
  readonly name?: string;
  /** Processes that have ended. */
  readonly count?: number;
}

export interface WakeFeedback extends Feedback {
  /** The name in the service's configuration. */
  readonly name?: string;
  readonly mac?: string;
  /** The addresses to which packets were sent. There is no confirmation that the machine wakes. */
  readonly targets?: readonly WakeTarget[];
}

export interface MachineDescription {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The version of its service. */
  readonly version: string;
  /** Name and version; null until it was read. */
  readonly os: string | null;
  /** Maker and product; null if unknown. */
  readonly model: string | null;
  /** Addresses of the interface of its default route; empty until they were read. */
  readonly addresses: readonly string[];
}

/** The service's first message on a connection. */
export interface Connected {
  /** The version of the service. */
  readonly version: string;
  readonly protocol: number;
  /** Another one after each start of the service. */
  readonly run: string;
  /** Milliseconds of a clock of the service that is never set and also runs in sleep. */
  readonly clock: number;
  /** The machine; absent at a hub, which shows several. */
  readonly machine?: MachineDescription;
  /** The keys of `features` in its configuration. */
  readonly features: Readonly<Record<string, boolean>>;
  /** The name of the key, `default` for `auth.api_key`; absent without a valid one. */
  readonly key?: string;
  /** The scopes of the key, or of clients without one; absent: everything. */
  readonly scopes?: readonly string[];
}

export interface ErrorMessage {
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
}

export type AnyStats = StatsPayload | StatsPayload<Section, true>;

/** The events of listeners. Answers to a request go only to its promise. */
export interface SocketEvents extends TopicEvents {
  readonly state: ConnectionState;
  readonly connected: Connected;
  readonly system_stats: AnyStats;
  /** An event of the topic `events`: something has begun or ended. */
  readonly event: MachineEvent;
  /** Feedback for commands of other clients, and for own commands whose promise is settled. */
  readonly media_feedback: Feedback;
  readonly process_feedback: ProcessCommandFeedback;
  readonly power_feedback: Feedback;
  readonly wake_feedback: WakeFeedback;
  readonly closing: { readonly reason: string };
  readonly error: ErrorMessage;
}

/** The service's messages by their type. */
export interface AnswerEvents extends Omit<SocketEvents, 'state'> {
  readonly subscribed: {
    readonly topics: readonly string[];
    readonly unknown?: readonly string[];
    /** Topics that the key does not allow. */
    readonly forbidden?: readonly string[];
  };
  readonly process_details: ProcessDetailsPayload;
  readonly history: HistoryPayload;
  readonly process_history: ProcessHistoryPayload;
  readonly pong: unknown;
}

/** One text frame of the service. The type of `data` is in AnswerEvents. */
export interface Message {
  readonly type: string;
  readonly id?: unknown;
  /** From a hub: the machine concerned. */
  readonly host?: unknown;
  readonly data: unknown;
}

/** The message in `text`; undefined when it is not a message. */
export function parseMessage(text: unknown): Message | undefined {
  const { type, id, host, data } = membersOf(typeof text === 'string' && parseJson(text));
  return typeof type === 'string' && typeof data === 'object' ? { type, id, host, data } : undefined;
}
