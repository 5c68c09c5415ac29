/** The whole screen as lines: a header, the panels, the processes, and the keys. Pure. */
import { CPU_OF_PROCESS, TOP_KEYS } from '../top-keys.ts';
import { bytes, duration, percent, plain } from './format.ts';
import { LEFT_PANELS, type Look, PANELS, type Panel } from './panels.ts';
import { cell, fit, type Line, type Span, span } from './text.ts';
import type { View } from './view.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Drawn {
  readonly lines: readonly Line[];
  /** Number of process rows that fit. */
  readonly shown: number;
}

const SMALLEST: Size = { columns: 60, rows: 20 };
/** Columns from which the panels stand side by side. */
const WIDE = 120;
const GAP = 2;
/** Rows of the header, the heading of the processes, and the keys. */
const FIXED = 3;

/** Gives each panel its minimum, and then more, row by row. */
export function share(panels: readonly Panel[], rows: number): readonly number[] {
  const given = panels.map(({ least }) => least);
  let left = rows - given.reduce((total, each) => total + each, 0);
  for (let hasGiven = true; hasGiven && left > 0; ) {
    hasGiven = false;
    panels.forEach(({ most }, at) => {
      if (left <= 0 || (given[at] ?? 0) >= most) return;
      given[at] = (given[at] ?? 0) + 1;
      left--;
      hasGiven = true;
    });
  }
  return given;
}

const drawColumn = (panels: readonly Panel[], rows: number) =>
  share(panels, rows).flatMap((given, at) => panels[at]?.draw(given) ?? []);

/** Draws the panels in at most `rows`, or in their minimum. */
function drawPanels(view: View, { columns, isAscii }: Look, rows: number): readonly Line[] {
  const width = columns < WIDE ? columns : Math.floor((columns - GAP) / 2);
  const panels = PANELS.map((make) => make(view, { columns: width, isAscii }));
  if (columns < WIDE) return drawColumn(panels, rows);
  const [left, right] = [panels.slice(0, LEFT_PANELS), panels.slice(LEFT_PANELS)].map((column) =>
    drawColumn(column, rows),
  );
  return Array.from({ length: Math.max(left?.length ?? 0, right?.length ?? 0) }, (_, row) => [
    ...fit(left?.[row] ?? [], width),
    span(' '.repeat(GAP)),
    ...(right?.[row] ?? []),
  ]);
}

const timeOf = (ms: number) => new Date(ms).toTimeString().slice(0, 8);

function header({ sample, url, outage }: View, columns: number): Line {
  const state =
    outage === undefined
      ? span(url, 'dim')
      : span(`no answer since ${timeOf(outage.sinceMs)}: ${outage.reason}`, 'bad');
  const room = Math.max(8, Math.min(30, columns - 18 - state.text.length));
  return fit(
    [span(cell(sample.host ?? '-', room), 'bold'), span(` up ${duration(sample.uptime)}  `), state],
    columns,
  );
}

const NARROW = { pid: 8, user: 9, cpu: 7, memory: 10 } as const;

function processLine(row: NonNullable<View['processes']>['rows'][number], columns: number): string {
  const cells = [
    cell(plain(row.pid), NARROW.pid - 1, 'right'),
    cell(row.user, NARROW.user - 1),
    cell(percent(row.cpu, 1), NARROW.cpu - 1, 'right'),
    cell(bytes(row.memory), NARROW.memory - 1, 'right'),
    row.path === null || columns < 100 ? row.name : `${row.name}  ${row.path}`,
  ];
  return cell(cells.join(' '), columns);
}

function heading({ processes, listing, sample, connected }: View): Line {
  if (connected.features['enable_processes'] !== true)
    return [span('Processes', 'title'), span('  disabled in the service', 'dim')];
  const name = (text: string, sort: string) => span(text, listing.sort === sort ? 'title' : 'dim');
  return [
    span(`${'PID'.padStart(NARROW.pid - 1)} ${'USER'.padEnd(NARROW.user)}`, 'dim'),
    name('CPU'.padStart(NARROW.cpu - 1), 'cpu'),
    name('MEMORY'.padStart(NARROW.memory), 'memory'),
    name(' NAME', 'name'),
    span(`  ${processes?.total ?? '-'} (${sample.processes?.running ?? '-'} running)`, 'dim'),
    ...(listing.query === '' ? [] : [span(`, filter "${listing.query}"`, 'warn')]),
    span(', CPU of all cores', 'dim'),
  ];
}

const KEY_COLUMNS = 16;

/** The keys, below a header. */
const help = (): readonly Line[] => [
  [span('Keys', 'title')],
  ...TOP_KEYS.map(([keys, effect]): Line => [span(keys.padEnd(KEY_COLUMNS), 'bold'), span(effect)]),
  [],
  [span(CPU_OF_PROCESS)],
];

function footer({ ending, isTyping, listing, note, isOfHub, isHelp }: View): readonly Span[] {
  if (isHelp) return [span('press any key to return', 'dim')];
  if (ending !== undefined)
    return [span(`End ${ending.name} (${ending.pid})?  y: end  f: force  any other key: cancel`, 'bad')];
  if (isTyping) return [span(`Filter: ${listing.query}_`, 'bold'), span('  Enter: keep  Esc: clear', 'dim')];
  if (note !== '') return [span(note, 'warn')];
  return [
    span(`q ${isOfHub ? 'machines' : 'quit'}  ? keys  c m n sort  / filter  arrows  k end process`, 'dim'),
  ];
}

/** Draws exactly `size.rows` lines of `size.columns`; one sentence if the terminal is too small. */
export function drawScreen(view: View, size: Size, isAscii: boolean): Drawn {
  const { columns, rows } = size;
  if (columns < SMALLEST.columns || rows < SMALLEST.rows) {
    const sentence = `hostwire top needs ${SMALLEST.columns}x${SMALLEST.rows}; this terminal has ${columns}x${rows}`;
    return {
      lines: Array.from({ length: rows }, (_, row) => fit(row === 0 ? [span(sentence)] : [], columns)),
      shown: 0,
    };
  }
  if (view.isHelp) {
    const lines = [header(view, columns), ...help()];
    const rest = Array.from({ length: rows - lines.length - 1 }, (): Line => []);
    return { lines: [...lines, ...rest, footer(view)].map((line) => fit(line, columns)), shown: 0 };
  }
  const panels = drawPanels(view, { columns, isAscii }, Math.floor((rows - FIXED) / 2)).slice(
    0,
    rows - FIXED - 1,
  );
  const shown = rows - FIXED - panels.length;
  const { processes, listing, selected } = view;
  const list = Array.from({ length: shown }, (_, at): Line => {
    const row = processes?.rows[listing.offset + at];
    if (row === undefined) return [];
    return [span(processLine(row, columns), row.pid === selected ? 'selected' : 'plain')];
  });
  const lines = [header(view, columns), ...panels, heading(view), ...list, footer(view)];
  return { lines: lines.map((line) => fit(line, columns)), shown };
}
