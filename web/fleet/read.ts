/**
 * Checks all data from machines where it enters: whatever one of them sends, only its own figures are unknown, and
 * nothing here throws.
 */
import type { Mute } from '../../src/wire/events.ts';
import type { HostState } from '../../src/wire/hub.ts';
import type { Severity } from '../../src/wire/severities.ts';
import { T } from './texts.ts';

export interface Condition {
  readonly state: HostState;
  readonly since: number;
  readonly reason?: string;
}

export interface Figures {
  /** In percent. */
  readonly load: number | null;
  readonly memory: number | null;
  /** Usage of the fullest disk. */
  readonly disk: number | null;
  /** In degrees Celsius. */
  readonly temperature: number | null;
  /** In bytes per second, since the sample before. */
  readonly receive: number | null;
  readonly send: number | null;
  /** In seconds. */
  readonly uptime: number | null;
}

/** Bytes since boot, which rates are derived from. */
export interface Traffic {
  /** Unix seconds of the hub's clock. */
  readonly at: number;
  readonly received: number | null;
  readonly sent: number | null;
}

/** The last values of a machine that is not there. */
export interface LastFigures {
  readonly figures: Figures;
  /** Unix seconds. */
  readonly asOf: number;
}

/** An event that lasts. */
export interface Alarm {
  /** The id of the machine. */
  readonly id: string;
  readonly severity: Severity;
  readonly text: string;
  readonly since: number;
  /** Hides it; undefined: neither its machine nor its rule is muted. */
  readonly mute: Mute | undefined;
  /** The name of the rule, or of what else it reports. */
  readonly rule: string;
}

export interface Row {
  readonly id: string;
  readonly name: string;
  /** As `name: value`. */
  readonly labels: readonly string[];
  /** The ids of machines that can wake it. */
  readonly wakers: readonly string[];
  /** The version of its hostwire; empty: unknown. */
  readonly version: string;
  readonly last: LastFigures | undefined;
}

type Members = Readonly<Record<string, unknown>>;

const NOTHING: Members = {};
/** In the order in which they are counted. */
export const STATES: readonly HostState[] = ['up', 'asleep', 'off', 'down', 'refused', 'unknown'];

/** Returns the members of an object; none for any other value. */
const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : NOTHING;

const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the usage of the fullest disk. A loop, because a list may have more items than a call can have arguments. */
function fullestOf(disks: unknown): number | null {
  let fullest: number | null = null;
  for (const disk of Array.isArray(disks) ? disks : []) {
    const share = numberOf(membersOf(disk)['used_percent']);
    if (share !== null && (fullest === null || share > fullest)) fullest = share;
  }
  return fullest;
}

/** Returns the bytes in a sample that arrived at `at`. */
export function trafficOf(sample: unknown, at: number): Traffic {
  const { bytesRecv, bytesSent } = membersOf(membersOf(sample)['network']);
  return { at, received: numberOf(bytesRecv), sent: numberOf(bytesSent) };
}

/** Returns bytes per second; null if one of the two is unknown, and after a start of the machine. */
function rateOf(before: number | null, now: number | null, seconds: number): number | null {
  return before === null || now === null || now < before || seconds <= 0 ? null : (now - before) / seconds;
}

/** `sample`: of one machine; undefined: it has sent none. `before`, `now`: the traffic until the sample before and this one. */
export function figuresOf(sample: unknown, before?: Traffic, now?: Traffic): Figures {
  const { cpu, memory, disks, uptime } = membersOf(sample);
  const { current_load: load, current_temp: temperature } = membersOf(cpu);
  return {
    load: numberOf(load),
    memory: numberOf(membersOf(memory)['used_percent']),
    disk: fullestOf(disks),
    // A sample without detail has 0 for an unreadable temperature.
    temperature: numberOf(temperature) || null,
    receive: before && now ? rateOf(before.received, now.received, now.at - before.at) : null,
    send: before && now ? rateOf(before.sent, now.sent, now.at - before.at) : null,
    uptime: numberOf(uptime),
  };
}

/** The figures of a machine that has sent no sample. */
export const UNKNOWN = figuresOf(undefined);

/** Returns the condition of a machine in an event. A state that this page does not know is shown as down. */
export function conditionOf(host: unknown): Condition {
  const { state, since, reason } = membersOf(host);
  const known = { state: STATES.find((name) => name === state) ?? 'down', since: numberOf(since) ?? 0 };
  return typeof reason === 'string' ? { ...known, reason } : known;
}

/** undefined: not a row. */
export function rowOf(row: unknown): Row | undefined {
  const { id, name, labels, wake_by: by, version, last } = membersOf(row);
  if (typeof id !== 'string') return undefined;
  const asOf = numberOf(membersOf(last)['as_of']);
  const pairs = Object.entries(membersOf(labels)).map(([label, value]) => `${label}: ${textOf(value)}`);
  const wakers = (Array.isArray(by) ? by : []).map(textOf);
  return {
    id,
    name: typeof name === 'string' ? name : id,
    labels: pairs,
    wakers,
    version: textOf(version),
    last: asOf === null ? undefined : { figures: figuresOf(last), asOf },
  };
}

/** The track of a machine. */
export interface Played {
  readonly text: string;
  readonly isPlaying: boolean;
}

/** Returns the track in an answer of /api/media/status?detail=1; undefined: none. */
export function playedOf(answer: unknown): Played | undefined {
  const { status, playback, title, artist } = membersOf(answer);
  if (status !== 'active') return undefined;
  const track = [textOf(title), textOf(artist)].filter((text) => text !== '').join(' — ');
  const isPlaying = playback === 'playing';
  return { text: isPlaying ? track : T.paused(track), isPlaying };
}

/** Returns the alarms in an answer of /api/events, the most urgent first, and of equals the newest. */
export function alarmsOf(answer: unknown): readonly Alarm[] {
  const { open, mutes } = membersOf(answer);
  const listOf = (value: unknown) => (Array.isArray(value) ? value : []).map(membersOf);
  const muted = new Map(
    listOf(mutes).map(({ what, until, reason }): [unknown, Mute] => [
      what,
      { what: textOf(what), until: numberOf(until) ?? 0, reason: textOf(reason) },
    ]),
  );
  const alarms = listOf(open).flatMap((event): readonly Alarm[] => {
    const { machine, severity, text, begin, subject } = event;
    if (typeof machine !== 'string' || (severity !== 'critical' && severity !== 'warning')) return [];
    // Of a rule the subject is `RULE SERIES`.
    const [rule = ''] = textOf(subject).split(' ');
    const mute = muted.get(machine) ?? muted.get(rule);
    return [{ id: machine, severity, text: textOf(text), since: numberOf(begin) ?? 0, mute, rule }];
  });
  const rankOf = ({ mute, severity }: Alarm) => (mute !== undefined ? 2 : severity === 'critical' ? 0 : 1);
  return alarms.sort((a, b) => rankOf(a) - rankOf(b) || b.since - a.since);
}
