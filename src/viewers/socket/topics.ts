/** The table of topics, their names, and the sets of sections and topics that these stand for. */
import { ALL_SECTIONS, SECTION_BITS, SECTIONS } from '../../host/host.ts';
import { scopeOf } from '../../machine/requests.ts';
import type { Params } from '../../params.ts';
import { allows, type Scope, type Scopes } from '../../scopes.ts';
import type { TopicEvent, TopicName } from '../../wire/topics.ts';
import type { Group } from './feedback.ts';

/** How a machine is asked for a topic. */
interface TopicRow {
  readonly event: TopicEvent;
  readonly what: string;
  readonly params: (withDetail: boolean, limit: number) => Params;
  /** The commands whose feedback its subscribers receive; a failed reading is reported as such feedback, too. */
  readonly group: Exclude<Group, 'wake'>;
}

export const TOPIC_ROWS: Readonly<Record<TopicName, TopicRow>> = {
  media: {
    event: 'media_update',
    what: 'media',
    params: (withDetail) => ({ detail: withDetail }),
    group: 'media',
  },
  processes: {
    event: 'process_list',
    what: 'processes',
    params: (_, limit) => ({ grouped: true, sort: 'cpu', limit }),
    group: 'process',
  },
  power: { event: 'power_update', what: 'power', params: () => ({}), group: 'power' },
};

/** In the order in which `subscribed` lists them. */
export const TOPIC_NAMES = Object.keys(TOPIC_ROWS) as readonly TopicName[]; // Its own keys are exactly these.

/** One bit per topic, for sets of them. */
export const bitOf = (name: TopicName): number => 1 << TOPIC_NAMES.indexOf(name);

/** The scope that a subscriber of a topic needs. */
export const topicScopeOf = (name: TopicName): Scope => scopeOf(TOPIC_ROWS[name].what);

/** The set of all topics that `includes`. */
export const topicsWhere = (includes: (name: TopicName) => boolean): number =>
  TOPIC_NAMES.filter(includes).reduce((set, name) => set | bitOf(name), 0);

/** The bit of the topic `events`, which has no state. */
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

/** Returns the topics that `scopes` lets a client see, and the names of the others. */
export function permittedTopics(
  { sections, states }: Topics,
  scopes: Scopes,
): { readonly asked: Topics; readonly forbidden: readonly string[] } {
  const isReader = allows(scopes, 'read');
  const visible = topicsWhere((name) => allows(scopes, topicScopeOf(name))) | (isReader ? EVENTS_BIT : 0);
  const asked = { sections: isReader ? sections : 0, states: states & visible };
  return { asked, forbidden: namesOf({ sections: isReader ? 0 : sections, states: states & ~visible }) };
}
