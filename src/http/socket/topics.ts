/** The topics of /api/ws by name: sections of stats, and the states that are told when they change. Pure. */
import { ALL_SECTIONS, SECTION_BITS, SECTIONS } from '../../host/host.ts';

/** Each is told by an event of its own. */
export const STATES = ['media', 'processes', 'power'] as const;
export type StateName = (typeof STATES)[number];

export const STATE_BITS: Readonly<Record<StateName, number>> = { media: 1, processes: 2, power: 4 };
export const ALL_STATES = 7;

export interface Topics {
  /** A set of SECTION_BITS. */
  readonly sections: number;
  /** A set of STATE_BITS. */
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
  ...STATES.map((name): [string, Topics] => [name, { sections: 0, states: STATE_BITS[name] }]),
]);

/** What a name stands for; undefined when it is no topic. */
export function topicOf(name: string): Topics | undefined {
  return BY_NAME.get(name);
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

/** The other way round: one spelling for each. */
export function namesOf({ sections, states }: Topics): readonly string[] {
  const stats =
    sections === ALL_SECTIONS
      ? [STATS]
      : SECTIONS.filter((name) => (sections & SECTION_BITS[name]) !== 0).map((name) => `${PREFIX}${name}`);
  return [...stats, ...STATES.filter((name) => (states & STATE_BITS[name]) !== 0)];
}
