/** What `get` collects: one message a kind of topic. */
import type { MediaPayload } from '../wire/media.ts';
import type { PowerPayload } from '../wire/power.ts';
import type { ProcessListPayload } from '../wire/process.ts';
import type { AnyStats, Message, Topic } from './messages.ts';
import type { Taken } from './requests.ts';

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

const kindOf = (topic: string): keyof Snapshot =>
  topic === 'media' || topic === 'processes' || topic === 'power' ? topic : 'stats';

/** Takes the answers to a `get` of `topics` until there is one of each kind. */
export function snapshotOf(topics: readonly Topic[]): (message: Message) => Taken<Snapshot> {
  const missing = new Set(topics.map(kindOf));
  let snapshot: Snapshot = {};
  return ({ type, data }) => {
    const kind = KIND_BY_TYPE[type];
    if (kind === undefined || !missing.delete(kind)) return undefined;
    snapshot = { ...snapshot, [kind]: data };
    return missing.size === 0 ? { done: snapshot } : undefined;
  };
}
