/** The interest of a hub: the message `want`, which renews its lease on parts of this machine. */

import type { Section } from '../../host/host.ts';
import { isObject, parseJson } from '../../json.ts';

/** Sets of sections, as numbers. */
export interface Interest {
  /** As they are by default. */
  readonly plain: number;
  /** With detail, and then with what detail adds beside them; undefined: without. */
  readonly detailed: number | undefined;
}

export interface HubInterest extends Interest {
  readonly hub: string;
  /** 0: every sample. */
  readonly intervalMs: number;
  /** Whether media and power are sent when they change. */
  readonly media: boolean;
  readonly power: boolean;
  /** Whether events of watch rules are sent when they happen. */
  readonly events: boolean;
}

export type SectionBits = Readonly<Record<Section, number>>;

const HUB_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_INTEREST_BYTES = 2048;
const MAX_INTERVAL_SECONDS = 86_400;

/** The name of a hub, also the user that it is at the broker: a level of topics. */
export const isHubName = (value: unknown): value is string =>
  typeof value === 'string' && HUB_NAME.test(value);

export const unite = (some: Interest, other: Interest): Interest => ({
  plain: some.plain | other.plain,
  detailed:
    some.detailed === undefined && other.detailed === undefined
      ? undefined
      : (some.detailed ?? 0) | (other.detailed ?? 0),
});

/** Whether `have` has all of `wanted`. */
export const hasAll = (have: Interest, wanted: Interest): boolean => {
  const both = unite(have, wanted);
  return both.plain === have.plain && both.detailed === have.detailed;
};

export const isNothing = ({ plain, detailed }: Interest): boolean => plain === 0 && detailed === undefined;

/** A text says why the message is none. Unknown names of sections and topics, which newer hubs may have, are passed over. */
export function readInterest(payload: Buffer, bits: SectionBits): HubInterest | string {
  if (payload.length > MAX_INTEREST_BYTES) return `it has more than ${MAX_INTEREST_BYTES} bytes`;
  const value = parseJson(payload.toString());
  if (!isObject(value)) return 'it is not a JSON object';
  const { hub, sections = [], detail, interval_seconds: interval = 0, topics = [] } = value;
  if (!isHubName(hub)) return 'hub is not the name of a hub';
  if (typeof interval !== 'number' || !(interval >= 0 && interval <= MAX_INTERVAL_SECONDS))
    return `interval_seconds is not a number from 0 to ${MAX_INTERVAL_SECONDS}`;
  const plain = bitsOf(sections, bits);
  const detailed = detail === undefined ? undefined : bitsOf(detail, bits);
  if (plain === 'bad' || detailed === 'bad' || !isList(topics))
    return 'sections, detail and topics must be lists of names';
  const has = (name: string) => topics.includes(name);
  const wanted = { media: has('media'), power: has('power'), events: has('events') };
  return { hub, plain, detailed, intervalMs: interval * 1000, ...wanted };
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

function bitsOf(names: unknown, bits: SectionBits): number | 'bad' {
  if (!isList(names)) return 'bad';
  let found = 0;
  for (const [name, bit] of Object.entries(bits)) if (names.includes(name)) found |= bit;
  return found;
}
