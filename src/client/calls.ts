/** The questions and commands of one machine over a WebSocket. */
import { membersOf } from '../json.ts';
import type { HistoryPayload, ProcessHistoryPayload } from '../wire/history.ts';
import type { ProcessDetailsPayload, ProcessListPayload } from '../wire/process.ts';
import type { MediaAction } from '../wire/requests.ts';
import type { TopicEvent, TopicName, TopicPayload } from '../wire/topics.ts';
import { callOut } from './environment.ts';
import type {
  AnswerEvents,
  AnyStats,
  Feedback,
  Message,
  ProcessCommandFeedback,
  Topic,
  WakeFeedback,
} from './messages.ts';
import { answered, check, type Requests, type Take } from './pending.ts';
import type {
  AskOptions,
  CommandOptions,
  GetOptions,
  HistoryOptions,
  KillOptions,
  LaunchOptions,
  ListOptions,
  MediaOptions,
  PowerAction,
  PowerOptions,
  Target,
} from './socket-options.ts';

type TopicPayloads = { readonly [N in TopicName]?: TopicPayload<N> };

/** The result of `get`: one value per topic, and one for all of stats. */
export interface Snapshot extends TopicPayloads {
  readonly stats?: AnyStats;
}

/** The service's default wait for a process to end. */
const ENDS_WITHIN_MS = 3000;

export interface HostCalls extends Readonly<ReturnType<typeof callsOf>> {}

/** `host`: the machine of a hub that is asked. */
export function callsOf(requests: Requests, host?: string) {
  const address = host === undefined ? undefined : { host };

  /** Waits for the connection, and is answered by one message of the type `op`. */
  const question = <E extends keyof AnswerEvents>(op: E, data: object, options?: AskOptions) =>
    requests.start<AnswerEvents[E]>({ op, address, data, options, take: answered(op) });

  /** Resolves with the final feedback, or rejects with its code when the command failed. */
  const command = <F extends Feedback>(
    op: string,
    data: object,
    { onStage, ...options }: CommandOptions,
    takesMs?: number,
  ) =>
    requests.start<F>({ op, address, data, options, takesMs, kind: 'command', take: feedbackFor(onStage) });

  return {
    processes: {
      list({ sort, limit, query, grouped, disk, ...options }: ListOptions = {}): Promise<ProcessListPayload> {
        return question('process_list', { sort, limit, query, grouped, disk }, options);
      },
      details(target: Target, options?: AskOptions): Promise<ProcessDetailsPayload> {
        const data = 'pid' in target ? { pid: target.pid } : { name: target.name };
        return question('process_details', data, options);
      },
      /** Resolves when the process has ended. `started_at` protects another process that got the same pid. */
      kill(target: Target, { by, tree, endsWithinMs, ...options }: KillOptions = {}) {
        const data = { ...target, signal: by, tree, timeout_ms: endsWithinMs };
        const takesMs = endsWithinMs ?? ENDS_WITHIN_MS;
        return command<ProcessCommandFeedback>('process_kill', data, options, takesMs);
      },
      /** Starts an app that is listed in the service's configuration. */
      launch(app: string, { args, ...options }: LaunchOptions = {}) {
        return command<ProcessCommandFeedback>('process_launch', { app, args }, options);
      },
    },
    /** The present state of `topics`, once. */
    get(topics: readonly Topic[], { detail, ...options }: GetOptions = {}): Promise<Snapshot> {
      if (topics.length === 0) return Promise.resolve({});
      const data = { topics, detail };
      return requests.start({ op: 'get', address, data, options, take: snapshotOf(topics) });
    },
    media(action: MediaAction, { value, player, ...options }: MediaOptions = {}) {
      return command('media', { action, value, player }, options);
    },
    power(action: PowerAction, { delay, force, ...options }: PowerOptions = {}) {
      return command('power', { action, delay, force }, options, (delay ?? 0) * 1000);
    },
    /** Wakes another machine that is listed in the service's configuration. */
    wake(name: string, options: CommandOptions = {}) {
      return command<WakeFeedback>('wake', { host: name }, options);
    },
    /** Reads recorded values. Rejects with FEATURE_DISABLED where nothing is recorded. */
    history({ series, since, until, step, ...options }: HistoryOptions = {}): Promise<HistoryPayload> {
      return question('history', { series, since, until, step }, options);
    },
    /** Which programs used most at a moment: Unix seconds, or negative: before now. */
    processesAt(at: number, options?: AskOptions): Promise<ProcessHistoryPayload> {
      return question('process_history', { at }, options);
    },
  };
}

function feedbackFor<F extends Feedback>(onStage: CommandOptions['onStage']): Take<F> {
  return (message) => {
    check(message);
    if (!message.type.endsWith('_feedback')) return undefined;
    // The service's messages have the types in AnswerEvents.
    const feedback = message.data as F;
    if (feedback.final) return feedback;
    if (onStage !== undefined) callOut(onStage, feedback);
    return undefined;
  };
}

/** The topic of each event. */
const TOPIC_OF: { readonly [N in TopicName as TopicEvent<N>]: N } = {
  media_update: 'media',
  process_list: 'processes',
  power_update: 'power',
};

const KIND_BY_TYPE: Readonly<Record<string, keyof Snapshot>> = { ...TOPIC_OF, system_stats: 'stats' };

/**
 * Takes the answers to a `get` of `topics`, one per name. If one of them is an error, throws when all have arrived, so
 * that none arrives later.
 */
function snapshotOf(topics: readonly Topic[]): Take<Snapshot> {
  let missing = new Set(topics).size;
  let error: Message | undefined;
  const snapshot: Record<string, unknown> = {};
  return (message) => {
    const kind = KIND_BY_TYPE[message.type];
    // Each section that was requested by name has a message of its own.
    if (kind !== undefined) snapshot[kind] = { ...(snapshot[kind] ?? {}), ...(message.data ?? {}) };
    else {
      // An error without a topic is one of the whole request.
      if (membersOf(membersOf(message.data)['details'])['topic'] === undefined) check(message);
      error = message;
    }
    if (--missing > 0) return undefined;
    if (error !== undefined) check(error);
    return snapshot;
  };
}
