/** The machines of a hub as lines, and the effect of keys there. Pure. */
import type { Key } from 'node:readline';
import type { FleetHost, HostRow } from '../../client/client.ts';
import type { MachineEvent } from '../../wire/events.ts';
import type { HostState } from '../../wire/hub.ts';
import { measured, percent } from './format.ts';
import { controlAction, type TerminalAction } from './keys.ts';
import type { Size } from './layout.ts';
import { cell, fit, type Line, span, type Tone } from './text.ts';

/** By id: what the hub sends of each machine. */
export type Samples = ReadonlyMap<string, FleetHost>;

export interface Fleet {
  readonly hosts: readonly HostRow[];
  /** The events that last. */
  readonly events: readonly MachineEvent[];
}

export interface Machines extends Fleet {
  readonly url: string;
  readonly samples: Samples;
  /** The id of the machine that Enter opens. */
  readonly selected: string | undefined;
  /** Number of rows above the first visible one. */
  readonly offset: number;
  readonly note: string;
}

export type MachinesAction = TerminalAction | { readonly open: string };

/** `shown`: number of visible machine rows. */
export function pressMachines(
  before: Machines,
  key: Key,
  shown: number,
): { readonly view: Machines; readonly action?: MachinesAction } {
  const view = { ...before, note: '' };
  const action = key.sequence === 'q' ? 'quit' : controlAction(key);
  if (action !== undefined) return { view, action };
  const { name = '' } = key;
  const { hosts, selected, offset } = view;
  if (name === 'return' || name === 'enter')
    return selected === undefined ? { view } : { view, action: { open: selected } };
  const steps = { up: -1, down: 1, pageup: -shown, pagedown: shown, home: -1e9, end: 1e9 }[name];
  if (steps === undefined || shown < 1) return { view };
  const found = hosts.findIndex(({ id }) => id === selected);
  const at = Math.max(0, Math.min(found === -1 ? 0 : found + steps, hosts.length - 1));
  return {
    view: {
      ...view,
      selected: hosts[at]?.id,
      offset: Math.max(Math.min(offset, at), at - shown + 1),
    },
  };
}

const TONES: Readonly<Record<string, Tone>> = { up: 'good', down: 'bad', refused: 'warn' };
const WIDTHS = { id: 18, state: 8, since: 7, figure: 6, name: 18 } as const;
/** The states in the order in which they need somebody. */
const URGENT: readonly HostState[] = ['down', 'refused', 'unknown', 'off', 'asleep', 'up'];

/** Returns the rows with those that need somebody first. */
export const inOrder = (hosts: readonly HostRow[]): readonly HostRow[] =>
  hosts.toSorted((a, b) => URGENT.indexOf(a.state) - URGENT.indexOf(b.state));

/** Returns the time of day, before today the date. */
function sinceText(unixSeconds: number): string {
  const at = new Date(1000 * unixSeconds);
  if (Number.isNaN(at.getTime())) return '-';
  if (at.toDateString() === new Date().toDateString()) return at.toTimeString().slice(0, 5);
  return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}

/** Returns the figures of a machine, of one that is not there the last ones: load, memory, fullest disk, temperature. */
function figuresOf({ id, state, last }: HostRow, samples: Samples): readonly string[] {
  const { cpu, memory, disks } = (state === 'up' ? samples.get(id)?.sample : last) ?? {};
  const fullest = Array.isArray(disks)
    ? disks.reduce<number | undefined>((most, { used_percent: share }) => {
        return typeof share === 'number' && share > (most ?? -1) ? share : most;
      }, undefined)
    : undefined;
  return [
    percent(cpu?.current_load),
    percent(memory?.used_percent),
    percent(fullest),
    // A sample without detail has 0 for an unreadable temperature.
    measured(cpu?.current_temp || null, '°C'),
  ];
}

function machineLine(row: HostRow, samples: Samples, isSelected: boolean): Line {
  const { id, state, since, name, reason, labels } = row;
  const rest =
    reason ??
    Object.entries(labels)
      .map(([label, value]) => `${label}:${value}`)
      .join(' ');
  const tone = (usual: Tone): Tone => (isSelected ? 'selected' : usual);
  const figures = figuresOf(row, samples).map((text) => cell(text, WIDTHS.figure, 'right'));
  return [
    span(`${cell(id, WIDTHS.id)} `, tone('plain')),
    span(`${cell(state, WIDTHS.state)} `, tone(TONES[state] ?? 'plain')),
    span(`${cell(state === 'up' ? '' : sinceText(since), WIDTHS.since)}`, tone('plain')),
    // A machine that is not there has its last figures.
    span(`${figures.join(' ')}  `, tone(state === 'up' ? 'plain' : 'dim')),
    span(`${cell(name, WIDTHS.name)} ${rest}`, tone('plain')),
  ];
}

const FIGURES = ['LOAD', 'MEM', 'DISK', 'TEMP'].map((text) => text.padStart(WIDTHS.figure)).join(' ');
const HEADING: Line = [
  span(
    `${'MACHINE'.padEnd(WIDTHS.id)} ${'STATE'.padEnd(WIDTHS.state)} ${'SINCE'.padEnd(WIDTHS.since)}${FIGURES}  ` +
      `${'NAME'.padEnd(WIDTHS.name)} LABELS OR REASON`,
    'dim',
  ),
];

const SEVERITY_TONES: Readonly<Record<string, Tone>> = { critical: 'bad', warning: 'warn' };

/** Returns the events that last, the most urgent first, in at most `most` lines. */
function eventLines(events: readonly MachineEvent[], most: number): readonly Line[] {
  const rankOf = ({ severity }: MachineEvent) => Object.keys(SEVERITY_TONES).indexOf(severity);
  const alarms = events
    .filter((event) => rankOf(event) >= 0)
    .toSorted((a, b) => rankOf(a) - rankOf(b) || b.begin - a.begin);
  const shown = alarms.length > most ? alarms.slice(0, Math.max(0, most - 1)) : alarms;
  const lines = shown.map(
    ({ machine, severity, text, begin }): Line => [
      span(`${severity.toUpperCase().padEnd(WIDTHS.state)} `, SEVERITY_TONES[severity] ?? 'plain'),
      span(`${cell(sinceText(begin), WIDTHS.since)}${machine}: ${text}`),
    ],
  );
  const rest = alarms.length - shown.length;
  return rest > 0 && most > 0 ? [...lines, [span(`${rest} more open events`, 'dim')]] : lines;
}

/** Header, heading, keys. */
const FIXED = 3;

function header({ url, hosts }: Machines): Line {
  const up = hosts.filter(({ state }) => state === 'up').length;
  return [span('Machines', 'bold'), span(`  ${up} of ${hosts.length} up  `), span(url, 'dim')];
}

/** Lists all of them, for a file or a pipe. */
export const listMachines = (machines: Machines, columns: number): readonly Line[] =>
  [
    header(machines),
    ...eventLines(machines.events, Number.POSITIVE_INFINITY),
    HEADING,
    ...machines.hosts.map((row) => machineLine(row, machines.samples, false)),
  ].map((line) => fit(line, columns));

/** Part of the screen that events may take. */
const EVENT_PART = 0.3;

/** Draws exactly `rows` lines of `columns`. */
export function drawMachines(
  machines: Machines,
  { columns, rows }: Size,
): { readonly lines: readonly Line[]; readonly shown: number } {
  const { hosts, offset, selected, note, events, samples } = machines;
  const alarms = eventLines(events, Math.floor(EVENT_PART * rows));
  const shown = Math.max(0, rows - FIXED - alarms.length);
  const list = Array.from({ length: shown }, (_, at): Line => {
    const row = hosts[offset + at];
    return row === undefined ? [] : machineLine(row, samples, row.id === selected);
  });
  const keys = note === '' ? span('q quit  arrows select  Enter open', 'dim') : span(note, 'warn');
  const lines = [header(machines), ...alarms, HEADING, ...list, [keys]].slice(0, rows);
  return { lines: lines.map((line) => fit(line, columns)), shown };
}
