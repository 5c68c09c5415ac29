/**
 * Checks all data from machines where it enters: whatever one of them sends, only its own figures are unknown, and
 * nothing here throws.
 */
import type { HostState } from '../../src/wire/hub.ts';
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
}

export interface Row {
  readonly id: string;
  readonly name: string;
  /** As `name: value`. */
  readonly labels: readonly string[];
  /** The ids of machines that can wake it. */
  readonly wakers: readonly string[];
}

export const UNKNOWN: Figures = { load: null, memory: null, disk: null, temperature: null };

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

/** `sample`: of one machine; undefined: it has sent none. */
export function figuresOf(sample: unknown): Figures {
  if (sample === undefined) return UNKNOWN;
  const { cpu, memory, disks } = membersOf(sample);
  const { current_load: load, current_temp: temperature } = membersOf(cpu);
  return {
    load: numberOf(load),
    memory: numberOf(membersOf(memory)['used_percent']),
    disk: fullestOf(disks),
    // A sample without detail has 0 for an unreadable temperature.
    temperature: numberOf(temperature) || null,
  };
}

/** Returns the condition of a machine in an event. A state that this page does not know is shown as down. */
export function conditionOf(host: unknown): Condition {
  const { state, since, reason } = membersOf(host);
  const known = { state: STATES.find((name) => name === state) ?? 'down', since: numberOf(since) ?? 0 };
  return typeof reason === 'string' ? { ...known, reason } : known;
}

/** undefined: not a row. */
export function rowOf(row: unknown): Row | undefined {
  const { id, name, labels, wake_by: by } = membersOf(row);
  if (typeof id !== 'string') return undefined;
  const pairs = Object.entries(membersOf(labels)).map(([label, value]) => `${label}: ${textOf(value)}`);
  const wakers = (Array.isArray(by) ? by : []).map(textOf);
  return { id, name: typeof name === 'string' ? name : id, labels: pairs, wakers };
}

/** Returns the track in an answer of /api/media/status?detail=1; empty: none. */
export function playedOf(answer: unknown): string {
  const { status, playback, title, artist } = membersOf(answer);
  if (status !== 'active') return '';
  const track = [textOf(title), textOf(artist)].filter((text) => text !== '').join(' — ');
  return playback === 'playing' ? track : T.paused(track);
}
