/** The topics of /api/ws: how each is read, one row per topic, and what the names of topics stand for. */
import type { Feature } from '../../commands/command.ts';
import type { Media } from '../../commands/media.ts';
import type { Power } from '../../commands/power.ts';
import { ALL_SECTIONS, SECTION_BITS, SECTIONS } from '../../host/host.ts';
import { listable, type ProcessQueries } from '../../processes/queries.ts';
import type { TopicEvent, TopicName } from '../../wire/topics.ts';
import type { Group } from './commands.ts';

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

/** In the order in which `subscribed` lists them. */
export const TOPIC_NAMES = Object.keys(TOPIC_ROWS) as readonly TopicName[]; // Its own keys are exactly these.

/** One bit per topic, for sets of them. */
export const bitOf = (name: TopicName): number => 1 << TOPIC_NAMES.indexOf(name);

/** The bit of the topic `events`, which is no state. */
export const EVENTS_BIT = 1 << TOPIC_NAMES.length;
const EVENTS = 'events';

export interface Topics {
  /** A set of SECTION_BITS. */
  readonly sections: number;
  /** A set of bits of topics, EVENTS_BIT among them. */
  readonly states: number;
}

const STATS = 'stats';
const PREFIX = `${STATS}.`;

const BY_NAME: ReadonlyMap<string, Topics> = new Map([
  [STATS, { sections: ALL_SECTIONS, states: 0 }],
  ...SECTIONS.flatMap((name): [string, Topics][] => {
    const topics = { sections: SECTION_BITS[name], states: 0 };
    return [
      [name, topics],
      [`${PREFIX}${name}`, topics],
    ];
  }),
  ...TOPIC_NAMES.map((name): [string, Topics] => [name, { sections: 0, states: bitOf(name) }]),
  [EVENTS, { sections: 0, states: EVENTS_BIT }],
]);

/** Other names, which clients of similar services use. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['net', 'network'],
  ['process', 'processes'],
  [`${PREFIX}media`, 'media'],
]);

/** The topics that a name stands for, in any case; undefined where it is none. */
export function topicOf(name: string): Topics | undefined {
  const lowered = name.toLowerCase();
  return BY_NAME.get(ALIASES.get(lowered) ?? lowered);
}

/** All of `names` together, and those that are no topics. */
export function readTopics(names: readonly string[]): Topics & { readonly unknown: readonly string[] } {
  let sections = 0;
  let states = 0;
  const unknown = new Set<string>();
  for (const name of names) {
    const topics = topicOf(name);
    if (topics === undefined) unknown.add(name);
    sections |= topics?.sections ?? 0;
    states |= topics?.states ?? 0;
  }
  return { sections, states, unknown: [...unknown] };
}

/** The reverse of `readTopics`, one spelling per topic. */
export function namesOf({ sections, states }: Topics): readonly string[] {
  const stats =
    sections === ALL_SECTIONS
      ? [STATS]
      : SECTIONS.filter((name) => (sections & SECTION_BITS[name]) !== 0).map((name) => `${PREFIX}${name}`);
  const others = TOPIC_NAMES.filter((name) => (states & bitOf(name)) !== 0);
  return [...stats, ...others, ...((states & EVENTS_BIT) === 0 ? [] : [EVENTS])];
}
