/** The topics of /api/ws: how each is read, one row per topic. */
import type { Feature } from '../../commands/command.ts';
import type { Media } from '../../commands/media.ts';
import type { Power } from '../../commands/power.ts';
import { listable, type ProcessQueries } from '../../processes/queries.ts';
import type { TopicEvent, TopicName } from '../../wire/topics.ts';
import type { Group } from './feedback.ts';

/** The rooms that topics are read from. */
export interface TopicRooms {
  readonly media: Pick<Media, 'status' | 'playback' | 'onChange'>;
  readonly power: Pick<Power, 'status' | 'onChange'>;
  /** undefined: processes are not supported on this platform. */
  readonly processes: ProcessQueries | undefined;
}

export interface TopicRow<N extends TopicName = TopicName> {
  readonly event: TopicEvent<N>;
  /** The flag that allows it; undefined: always allowed. */
  readonly feature: Feature | undefined;
  /** The commands whose feedback its subscribers receive; a failed reading is reported as such feedback, too. */
  readonly group: Group;
  /** Its payload differs with detail. */
  readonly hasDetail: boolean;
  /** Its payload as JSON. */
  readonly read: (rooms: TopicRooms, withDetail: boolean) => Promise<string>;
  /** What is a change also where the payload without detail stays the same. */
  readonly mark?: (rooms: TopicRooms) => Promise<string>;
  /** Calls `onChange` whenever it may have changed. Without it the topic is read each interval while subscribed to. */
  readonly watch?: (rooms: TopicRooms, onChange: () => void) => void;
}

/** The process list that is pushed. */
const PUSHED_PROCESSES = { sort: 'cpu', query: '', isGrouped: true } as const;
const MAX_PUSHED_ROWS = 200;
/** Maximum length of that list, so that a socket that is somewhat slow has room for it. */
const MAX_PUSHED_BYTES = 48 * 1024;

async function readPushedList(processes: ProcessQueries): Promise<string> {
  for (let limit = MAX_PUSHED_ROWS; ; limit = Math.floor(limit / 2)) {
    const json = await processes.list({ ...PUSHED_PROCESSES, limit }, 'all subscribers');
    if (limit === 0 || Buffer.byteLength(json) <= MAX_PUSHED_BYTES) return json;
  }
}

export const TOPIC_ROWS: { readonly [N in TopicName]: TopicRow<N> } = {
  media: {
    event: 'media_update',
    feature: 'enable_media',
    group: 'media',
    hasDetail: true,
    read: async ({ media }, withDetail) => JSON.stringify(await media.status(undefined, withDetail)),
    // The contract's three keys do not distinguish paused from playing.
    mark: async ({ media }) => await media.playback(),
    watch: ({ media }, onChange) => media.onChange(onChange),
  },
  processes: {
    event: 'process_list',
    feature: 'enable_processes',
    group: 'process',
    hasDetail: false,
    read: async ({ processes }) => await readPushedList(listable(processes)),
  },
  power: {
    event: 'power_update',
    feature: undefined,
    group: 'power',
    hasDetail: false,
    read: async ({ power }) => JSON.stringify(await power.status()),
    watch: ({ power }, onChange) => power.onChange(onChange),
  },
};
