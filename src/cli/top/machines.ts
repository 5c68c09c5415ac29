/** The machines of a hub as lines, and the effect of keys there. Pure. */
import type { Key } from 'node:readline';
import type { HostRow } from '../../client/client.ts';
import { controlAction, type TerminalAction } from './keys.ts';
import type { Size } from './layout.ts';
import { cell, fit, type Line, span, type Tone } from './text.ts';

export interface Machines {
  readonly url: string;
  readonly hosts: readonly HostRow[];
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
const WIDTHS = { id: 24, state: 8, name: 20 } as const;

function machineLine({ id, state, name, reason, labels }: HostRow, isSelected: boolean): Line {
  const rest =
    reason ??
    Object.entries(labels)
      .map(([label, value]) => `${label}:${value}`)
      .join(' ');
  const tone = (usual: Tone): Tone => (isSelected ? 'selected' : usual);
  return [
    span(`${cell(id, WIDTHS.id)} `, tone('plain')),
    span(`${cell(state, WIDTHS.state)} `, tone(TONES[state] ?? 'plain')),
    span(`${cell(name, WIDTHS.name)} ${rest}`, tone('plain')),
  ];
}

const HEADING: Line = [
  span(
    `${'MACHINE'.padEnd(WIDTHS.id)} ${'STATE'.padEnd(WIDTHS.state)} ${'NAME'.padEnd(WIDTHS.name)} LABELS OR REASON`,
    'dim',
  ),
];
/** Header, heading, keys. */
const FIXED = 3;

function header({ url, hosts }: Machines): Line {
  const up = hosts.filter(({ state }) => state === 'up').length;
  return [span('Machines', 'bold'), span(`  ${up} of ${hosts.length} up  `), span(url, 'dim')];
}

/** Lists all of them, for a file or a pipe. */
export const listMachines = (machines: Machines, columns: number): readonly Line[] =>
  [header(machines), HEADING, ...machines.hosts.map((row) => machineLine(row, false))].map((line) =>
    fit(line, columns),
  );

/** Draws exactly `rows` lines of `columns`. */
export function drawMachines(
  machines: Machines,
  { columns, rows }: Size,
): { readonly lines: readonly Line[]; readonly shown: number } {
  const { hosts, offset, selected, note } = machines;
  const shown = Math.max(0, rows - FIXED);
  const list = Array.from({ length: shown }, (_, at): Line => {
    const row = hosts[offset + at];
    return row === undefined ? [] : machineLine(row, row.id === selected);
  });
  const keys = note === '' ? span('q quit  arrows select  Enter open', 'dim') : span(note, 'warn');
  const lines = [header(machines), HEADING, ...list, [keys]].slice(0, rows);
  return { lines: lines.map((line) => fit(line, columns)), shown };
}
