/** The result of `get`: one value per topic, and one for all of stats. */
import type { TopicEvent, TopicName, TopicPayload } from '../wire/topics.ts';
import type { AnyStats, Message, Topic } from './messages.ts';
import { check, type Settlement } from './pending.ts';

type TopicPayloads = { readonly [N in TopicName]?: TopicPayload<N> };

export interface Snapshot extends TopicPayloads {
  readonly stats?: AnyStats;
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
export function snapshotOf(topics: readonly Topic[]): (message: Message) => Settlement<Snapshot> {
  let missing = new Set(topics).size;
  let error: Message | undefined;
  const snapshot: Record<string, unknown> = {};
  return (message) => {
    const kind = KIND_BY_TYPE[message.type];
    // Each section that was requested by name has a message of its own.
    if (kind !== undefined) snapshot[kind] = { ...(snapshot[kind] ?? {}), ...(message.data ?? {}) };
    else {
      const { details } = message.data as { readonly details?: { readonly topic?: unknown } }; // The shape of an error.
      // An error without a topic is one of the whole request.
      if (details?.topic === undefined) check(message);
      error = message;
    }
    if (--missing > 0) return undefined;
    if (error !== undefined) check(error);
    return { done: snapshot };
  };
}
