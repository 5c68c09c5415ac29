/** What `get` collects: one message a kind of topic. */
import type { MediaPayload } from '../wire/media.ts';
import type { PowerPayload } from '../wire/power.ts';
import type { ProcessListPayload } from '../wire/process.ts';
import type { AnyStats, Message, Topic } from './messages.ts';
import { check, type Taken } from './pending.ts';

/** What was asked for. */
export interface Snapshot {
  readonly stats?: AnyStats;
  readonly media?: MediaPayload;
  readonly processes?: ProcessListPayload;
  readonly power?: PowerPayload;
}

const KIND_BY_TYPE: Readonly<Record<string, keyof Snapshot>> = {
  system_stats: 'stats',
  media_update: 'media',
  process_list: 'processes',
  power_update: 'power',
};

/**
 * Takes the answers to a `get` of `topics`: each name has one of its own. Throws when they are all there, so that none
 * comes late, if one of them is an error.
 */
export function snapshotOf(topics: readonly Topic[]): (message: Message) => Taken<Snapshot> {
  let missing = new Set(topics).size;
  let error: Message | undefined;
  const snapshot: Record<string, unknown> = {};
  return (message) => {
    const kind = KIND_BY_TYPE[message.type];
    // Sections that were asked for one by one come one by one.
    if (kind !== undefined) snapshot[kind] = { ...(snapshot[kind] ?? {}), ...(message.data ?? {}) };
    else {
      const { details } = message.data as { readonly details?: { readonly topic?: unknown } }; // As errors are.
      // Without one it is an error of all of them.
      if (details?.topic === undefined) check(message);
      error = message;
    }
    if (--missing > 0) return undefined;
    if (error !== undefined) check(error);
    return { done: snapshot };
  };
}
