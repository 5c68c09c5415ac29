/** One panel per subject: its text in the rows it is given. Pure. */
import { drawBars, drawChart } from './chart.ts';
import { bytes, clock, type Maybe, measured, percent, plain, rate } from './format.ts';
import { cell, fit, type Line, measure, type Span, span, type Tone } from './text.ts';
import type { Series, View } from './view.ts';

export interface Panel {
  /** Minimum number of rows to show everything important. */
  readonly least: number;
  /** Number of rows that it can fill. */
  readonly most: number;
  /** Returns this many lines, of exactly the width that the panel was made for. */
  readonly draw: (rows: number) => readonly Line[];
}

export interface Look {
  readonly columns: number;
  readonly isAscii: boolean;
}

type Make = (view: View, look: Look) => Panel;

const TITLE = 9;
const title = (name: string) => span(name.padEnd(TITLE), 'title');
const indent = span(' '.repeat(TITLE));

const tone = (share: Maybe): Tone =>
  typeof share !== 'number' ? 'plain' : share >= 90 ? 'bad' : share >= 70 ? 'warn' : 'good';
/** Returns a share in its colour, of constant width while it changes. */
const share = (value: Maybe): Span => span(percent(value).padStart(5), tone(value));

/** Draws lines of text, and a chart of the same height beside them. */
function charted(name: Series, max: number, texts: readonly Line[], { traces }: View, look: Look): Panel {
  const { columns, isAscii } = look;
  const room = Math.max(38, Math.floor(columns / 2));
  const draw = (rows: number) => {
    const chart = drawChart(traces[name], { columns: columns - room - 1, rows, max }, isAscii);
    return chart.map((drawn, row) => [...fit(texts[row] ?? [], room), span(' '), span(drawn, 'good')]);
  };
  return { least: 1, most: Math.max(4, texts.length), draw };
}

/** Writes entries one after the other, in as many lines as they need; entries that do not fit are counted. */
function flowing(name: string, entries: readonly string[], { columns }: Look): Panel {
  const lines: string[][] = [[]];
  for (const entry of entries) {
    const line = lines.at(-1) ?? [];
    if (line.length > 0 && TITLE + measure([...line, entry].join('  ')) > columns) lines.push([entry]);
    else line.push(entry);
  }
  const draw = (rows: number) => {
    const hidden = lines.slice(rows).flat().length;
    return Array.from({ length: rows }, (_, row) => {
      const more = row === rows - 1 && hidden > 0 ? ` +${hidden}` : '';
      const text = cell((lines[row] ?? []).join('  '), columns - TITLE - more.length);
      return [row === 0 ? title(name) : indent, span(text), span(more, 'dim')];
    });
  };
  return { least: 1, most: lines.length, draw };
}

const single = (name: string, text: readonly Span[], { columns }: Look): Panel => ({
  least: 1,
  most: 1,
  draw: () => [fit([title(name), ...text], columns)],
});

const absent = (name: string, text: string, look: Look) => single(name, [span(text, 'dim')], look);

const cpu: Make = (view, look) => {
  const stats = view.sample.cpu;
  if (stats === undefined) return absent('CPU', 'cannot be read', look);
  const { breakdown, load_average: load, power_watts: watts } = stats;
  const facts = [measured(stats.current_speed, 'GHz'), measured(stats.current_temp, '°C')];
  const texts = [
    [title('CPU'), share(stats.current_load), span(`  ${facts.filter((fact) => fact !== '-').join('  ')}`)],
    [indent, span(`load ${load?.map((value) => plain(value, 2)).join(' ') ?? '-'}`)],
    [indent, span(`user ${percent(breakdown?.user)}  nice ${percent(breakdown?.nice)}`)],
    [indent, span(`system ${percent(breakdown?.system)}  irq ${percent(breakdown?.irq)}`)],
    [indent, span(`waiting ${percent(breakdown?.iowait)}  stolen ${percent(breakdown?.steal)}`)],
    ...(watts === null ? [] : [[indent, span(`power ${measured(watts, 'W')}`)]]),
  ];
  const chart = charted('cpu', 100, texts, view, look);
  const bars = drawBars(stats.cores, look.isAscii);
  const room = look.columns - TITLE;
  const count = Math.max(1, Math.ceil(bars.length / room));
  const cores = Array.from({ length: count }, (_, row) =>
    fit(
      [row === 0 ? title('cores') : indent, span(bars.slice(row * room, (row + 1) * room), 'good')],
      look.columns,
    ),
  );
  return {
    least: 1 + count,
    most: chart.most + count,
    draw: (rows) => [...chart.draw(rows - count), ...cores],
  };
};

const memory: Make = (view, look) => {
  const stats = view.sample.memory;
  if (stats === undefined) return absent('Memory', 'cannot be read', look);
  const { used, total, used_percent: part, cached, swap } = stats;
  const texts = [
    [title('Memory'), share(part), span(`  ${bytes(used)} of ${bytes(total)}`)],
    [
      indent,
      span(
        swap === null || swap.total === 0
          ? 'no swap'
          : `swap ${percent(swap.used_percent)} of ${bytes(swap.total)}`,
      ),
    ],
    [indent, span(`cached ${bytes(cached)}`)],
  ];
  return charted('memory', 100, texts, view, look);
};

const directions = (receive: Maybe, send: Maybe, { isAscii }: Look) =>
  `${isAscii ? 'in' : '↓'} ${rate(receive).padEnd(10)} ${isAscii ? 'out' : '↑'} ${rate(send).padEnd(10)}`;

const network: Make = (view, look) => {
  const stats = view.sample.network;
  if (stats === undefined) return absent('Network', 'cannot be read', look);
  const texts = [
    [title('Network'), span(directions(stats.receive_rate, stats.send_rate, look))],
    ...stats.interfaces
      .filter(({ up, kind }) => up === true && kind !== 'loopback')
      .map(({ name, receive_rate, send_rate }) => [
        span(` ${cell(name, TITLE - 2)} `, 'dim'),
        span(directions(receive_rate, send_rate, look)),
      ]),
  ];
  return charted('network', Math.max(1, ...view.traces.network.map(Number)), texts, view, look);
};

const disks: Make = (view, look) => {
  const all = view.sample.disks ?? [];
  if (all.length === 0) return absent('Disks', 'none', look);
  const room = Math.max(5, Math.min(30, look.columns - TITLE - 45));
  const lineOf = (disk: (typeof all)[number], row: number): Line => [
    row === 0 ? title('Disks') : indent,
    span(cell(disk.fs, room)),
    share(disk.used_percent),
    span(`${bytes(disk.available).padStart(9)} free`, disk.stale ? 'dim' : 'plain'),
    span(` r ${rate(disk.read_rate).padEnd(10)} w ${rate(disk.write_rate)}`),
  ];
  const draw = (rows: number) =>
    Array.from({ length: rows }, (_, row) => {
      const disk = all[row];
      if (disk === undefined) return fit([], look.columns);
      const more = row === rows - 1 && all.length > rows ? ` +${all.length - rows}` : '';
      return [...fit(lineOf(disk, row), look.columns - more.length), span(more, 'dim')];
    });
  return { least: 1, most: all.length, draw };
};

const gpu: Make = (view, look) => {
  const first = view.sample.gpu;
  if (first === undefined || first === null)
    return absent('GPU', first === null ? 'none' : 'cannot be read', look);
  const lineOf = (device: (typeof first.devices)[number], row: number): Line => [
    row === 0 ? title('GPU') : indent,
    device.asleep ? span('asleep', 'dim') : share(device.load),
    span(`  ${measured(device.temperature, '°C')}  ${bytes((device.memory_used ?? Number.NaN) * 1024 ** 2)}`),
    span(`  ${measured(device.power_watts, 'W')}  ${device.name}`),
  ];
  return charted('gpu', 100, first.devices.map(lineOf), view, look);
};

const sensors: Make = ({ sample }, look) => {
  const batteries = sample.batteries.map(
    ({ name, percent: charge, state }) => `${name} ${percent(charge)} ${state}`,
  );
  const readings = sample.sensors
    .filter(({ value }) => value !== null)
    .map(({ label, value, unit }) => `${label} ${measured(value, unit)}`);
  const all = [...batteries, ...readings].map((text) =>
    cell(text, Math.min(measure(text), look.columns - TITLE - 5)),
  );
  return all.length === 0 ? absent('Sensors', 'none', look) : flowing('Sensors', all, look);
};

const media: Make = ({ media: found, connected, nowMs }, look) => {
  if (connected.features['enable_media'] !== true) return absent('Media', 'disabled in the service', look);
  if (found === undefined || found.status.status === 'stopped') return absent('Media', 'no player', look);
  const { title: track, artist, position, duration, playing, rate: speed, player } = found.status;
  // The service reports a position when something changes.
  const passed = playing ? ((nowMs - found.atMs) / 1000) * (speed ?? 1) : 0;
  const at = position === null ? null : Math.min(position + passed, duration ?? Number.MAX_SAFE_INTEGER);
  const times = at === null ? '' : `${clock(at)} / ${clock(duration)}`;
  const name = [track, artist].filter((text) => text !== '').join(' – ') || (player ?? '-');
  const room = look.columns - TITLE - 8 - times.length - 1;
  return single(
    'Media',
    [span(playing ? 'playing ' : 'paused  ', 'dim'), span(cell(name, room)), span(` ${times}`)],
    look,
  );
};

/** In the order of one column; with two columns, the first half is the left one. */
export const PANELS: readonly Make[] = [cpu, memory, network, disks, gpu, sensors, media];
export const LEFT_PANELS = 3;
