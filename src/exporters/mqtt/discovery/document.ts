/** The document by which Home Assistant makes a device of this machine, with all its entities. */
import { REMEMBERED } from '../../../fairness/limits.ts';
import type { Sample } from '../../../stats/sample.ts';
import type { MediaDetail } from '../../../wire/media.ts';
import type { PowerCapabilities } from '../../../wire/power.ts';
import { type Control, type Controls, mediaControls, powerControls } from './controls.ts';
import { DIAGNOSTIC, type Entity, PLATFORMS, type Platform, templateOf, yesNo } from './entity.ts';
import { type Reading, TOP_ATTRIBUTES } from './machine.ts';
import { entitiesIn } from './state.ts';
import type { Topics } from './topics.ts';

export interface DiscoveryFacts extends Reading {
  /** The unchanging id of the machine, of letters, digits, `_` and `-`. */
  readonly id: string;
  /** The name of the machine for people. */
  readonly name: string;
  readonly topics: Topics;
  /** Time between two state messages. */
  readonly intervalSeconds: number;
  /** undefined: the flag is off, or there can be no players here. */
  readonly media: MediaDetail | undefined;
  /** undefined: there is no power manager. */
  readonly power: PowerCapabilities | undefined;
  /** Whether there are watch rules, whose begins and ends are events. */
  readonly hasRules: boolean;
  /** The address of the dashboard, if it can be opened from elsewhere. */
  readonly url?: string | undefined;
}

/** An announced entity. */
export interface Announced {
  readonly platform: Platform;
  /** In how many documents it has been missing since. */
  readonly missed: number;
}

/** By the ids of the components. */
export type Components = ReadonlyMap<string, Announced>;

export interface DeviceDocument {
  /** Where it is published, retained. */
  readonly topic: Topics['discovery'];
  readonly payload: string;
  /** For the next document. */
  readonly components: Components;
}

const NONE: Components = new Map();

/**
 * In documents: a thing that was missing from this many is gone. Probers answer some time after the start, and a reading may
 * fail: Home Assistant would forget what people have set for its entities, and see new ones a moment later.
 */
export const MISSED_UNTIL_GONE = 4;

/** In intervals: without a message for this long a value is shown as unavailable. */
const EXPIRES_AFTER = 4;
const MAX_MACS = 8;
const NO_MAC = /^(?:00:){5}00$/;

/**
 * Addresses of the hardware, by which Home Assistant's Wake-on-LAN and its other integrations know the device. Members of
 * a bond have one address.
 */
export function macsOf({ network }: Sample): readonly string[] {
  const macs = (network?.detail?.interfaces ?? [])
    .filter(({ kind }) => kind === 'ethernet' || kind === 'wifi')
    .flatMap(({ mac }) => (mac === null || NO_MAC.test(mac) ? [] : [mac.toLowerCase()]));
  return [...new Set(macs)].slice(0, MAX_MACS);
}

function componentsOf(facts: DiscoveryFacts, known: Components): Controls {
  const { topics, intervalSeconds, media, power, hasRules } = facts;
  const expire_after = Math.ceil(EXPIRES_AFTER * intervalSeconds);
  const ofState = ({ id, name, per, show }: Entity) => ({
    ...show,
    name,
    state_topic: topics.state,
    value_template: templateOf(id, per),
    expire_after,
    ...(id === 'processes_top' && {
      json_attributes_topic: topics.state,
      json_attributes_template: `{{ value_json.get('${TOP_ATTRIBUTES}', {}) | tojson }}`,
    }),
  });
  // An entity that could be read before remains: Home Assistant shows it as unknown.
  const there = entitiesIn(facts).filter(({ id, isThere }) => isThere || known.has(id));
  return {
    ...Object.fromEntries(there.map((entity) => [entity.id, ofState(entity)])),
    connected: {
      ...yesNo('connectivity'),
      ...DIAGNOSTIC,
      name: 'Connected',
      state_topic: topics.availability,
      payload_on: 'online',
      payload_off: 'offline',
      // While the machine is away this one is off; all others are unavailable.
      availability: [],
    },
    ...(media && mediaControls(topics, media, known)),
    ...(power && powerControls(topics, power)),
    ...(hasRules && { watch_event: watchEvent(topics) }),
  };
}

/** Home Assistant wants the type of an event under a key of its own; all else in the message is an attribute. */
const watchEvent = ({ event }: Topics): Control => ({
  platform: 'event',
  icon: 'mdi:bell-alert',
  name: 'Watch rule',
  state_topic: event,
  event_types: ['begin', 'end'],
  value_template: '{{ dict(value_json, event_type=value_json.state) | tojson }}',
});

function deviceOf({ id, name, sample, system, url }: DiscoveryFacts): object {
  const { os, cpu } = system;
  const connections = macsOf(sample).map((mac) => ['mac', mac]);
  return {
    identifiers: [`hostwire_${id}`],
    ...(connections.length > 0 && { connections }),
    name,
    ...(cpu.brand !== '' && { model: cpu.brand }),
    sw_version: [os.name, os.version, os.arch].filter((part) => part !== '').join(' '),
    ...(url !== undefined && { configuration_url: url }),
  };
}

/** Controls depend on flags and rules: they are gone as soon as they are missing. */
const isControl = (id: string) => /^(?:media|power|watch)_/.test(id);

/** Returns the missing entities, and the gone ones among them. */
function missingFrom(now: Controls, before: Components) {
  const missing = [...before]
    .filter(([id]) => now[id] === undefined)
    .map(([id, { platform, missed }]) => [id, { platform, missed: missed + 1 }] as const);
  const isGone = ([id, { missed }]: (typeof missing)[number]) => isControl(id) || missed >= MISSED_UNTIL_GONE;
  return { waited: missing.filter((each) => !isGone(each)), gone: missing.filter(isGone) };
}

/**
 * The document of what the machine has now, to be made with every state message and published where it is another one.
 * `before`: the components of the last one. One that is missing is left out, which changes nothing; one that is gone is in
 * one document with its platform only, which removes it.
 */
export function deviceDocument(facts: DiscoveryFacts, before: Components = NONE): DeviceDocument {
  const { id, topics, version } = facts;
  const controls = componentsOf(facts, before);
  const { waited, gone } = missingFrom(controls, before);
  const payload = {
    device: deviceOf(facts),
    origin: { name: 'hostwire', sw_version: version },
    availability: [{ topic: topics.availability }],
    components: Object.fromEntries([
      ...Object.entries(controls).map(([key, control]) => [
        key,
        { ...control, unique_id: `hostwire_${id}_${key}` },
      ]),
      ...gone.map(([key, { platform }]) => [key, { platform }]),
    ]),
  };
  const announced = Object.entries(controls).map(
    ([key, { platform }]) => [key, { platform, missed: 0 }] as const,
  );
  return {
    topic: topics.discovery,
    payload: JSON.stringify(payload),
    components: new Map([...announced, ...waited]),
  };
}

/**
 * The components of a document that the broker has kept, for the first document after a start; none where it is no
 * document.
 */
export function componentsIn(payload: string): Components {
  try {
    const { components } = JSON.parse(payload) as { readonly components: Readonly<Record<string, unknown>> };
    return new Map(
      Object.entries(components)
        .slice(0, REMEMBERED.components)
        .flatMap(([key, component]) => {
          // Anybody may have written it; what has no more than its platform has been removed.
          const { platform, unique_id } = component as { platform?: unknown; unique_id?: unknown };
          const isOurs = /^[a-z0-9_]{1,80}$/.test(key) && typeof unique_id === 'string';
          return isOurs && isPlatform(platform) ? [[key, { platform, missed: 0 }] as const] : [];
        }),
    );
  } catch {
    return NONE;
  }
}

const isPlatform = (word: unknown): word is Platform => PLATFORMS.some((platform) => platform === word);
