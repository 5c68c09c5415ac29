/** A chart of the last five minutes, and its legend with the values as text. */
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { WINDOW_SECONDS } from '../history.ts';
import { history, sample } from '../live.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';
import { cancelDraw, requestDraw } from './draw-queue.ts';
import { type Colour, colourOf, scheme } from './palette.ts';

export interface Line {
  /** The name of the series in the history. */
  readonly series: string;
  readonly label: string;
  readonly colour: Colour;
  /** Lines must be distinguishable without colours. */
  readonly isDashed?: boolean;
  /** One of many lines: thin, and not in the legend. */
  readonly isFaint?: boolean;
}

export interface Scale {
  readonly format: (value: number | null) => string;
  /** Like `format`, for the axis. */
  readonly tick?: (value: number) => string;
  /** The range of the axis for the range of the data. */
  readonly range: (min: number, max: number) => readonly [number, number];
}

/** The steps of a scale of rates, chosen so that its middle is a round number of binary units too. */
const LEAST_RATE = 16 * 1024;

export const PERCENT_RANGE: Scale['range'] = () => [0, 100];
export const RATE_RANGE: Scale['range'] = (_, max) => [
  0,
  2 ** Math.ceil(Math.log2(Math.max(max, LEAST_RATE))),
];
export const DEGREE_RANGE: Scale['range'] = (min, max) => {
  const from = Math.max(0, Math.floor((min - 5) / 10) * 10);
  // The middle is a multiple of ten too.
  return [from, from + Math.max(40, Math.ceil((max + 5 - from) / 20) * 20)];
};

interface ChartProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly scale: Scale;
  /** Minimum height in pixels at a text size of 16; the chart grows with its card and with the text. */
  readonly height?: number;
}

/** In units of the text size, like everything in the style sheet: a user may have made text larger. */
const FONT_REM = 0.6875;
const LEFT_REM = 4.125;
/** The width of the widest label of the time axis in common fonts, in units of its own font. */
const LABEL_EM = 4;

const remPx = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

/** The labels of the time axis that have room on `plotPx`, as minutes before now. */
export function minutesOn(plotPx: number, labelPx: number): readonly number[] {
  const minutePx = (60 * plotPx) / WINDOW_SECONDS;
  if (labelPx <= minutePx) return [4, 3, 2, 1];
  if (labelPx <= 2 * minutePx) return [4, 2];
  return labelPx <= plotPx ? [2] : [];
}

function fillOf(u: uPlot, colour: string): CanvasGradient | string {
  const { top, height } = u.bbox;
  if (!Number.isFinite(top) || height === 0) return `${colour}00`;
  const gradient = u.ctx.createLinearGradient(0, top, 0, top + height);
  gradient.addColorStop(0, `${colour}48`);
  gradient.addColorStop(1, `${colour}06`);
  return gradient;
}

function seriesOf(line: Line): uPlot.Series {
  const first = { width: line.isFaint ? 1 : 1.75, spanGaps: false, points: { show: false } };
  if (line.isFaint) return { ...first, stroke: () => `${colourOf(line.colour)}70` };
  const dash = line.isDashed ? { dash: [5, 3] } : { fill: (u: uPlot) => fillOf(u, colourOf(line.colour)) };
  return { ...first, stroke: () => colourOf(line.colour), ...dash };
}

function axes({ format, tick = format }: Scale, rem: number): uPlot.Axis[] {
  const fontPx = FONT_REM * rem;
  const font = `${fontPx}px system-ui, sans-serif`;
  const shared = { stroke: () => colourOf('muted'), font, ticks: { show: false } };
  const grid = { stroke: () => colourOf('grid'), width: 1 };
  return [
    {
      ...shared,
      grid: { show: false },
      size: 1.25 * rem,
      gap: 0.25 * rem,
      splits: (u, _axis, _min, max) =>
        minutesOn(u.width - LEFT_REM * rem, LABEL_EM * fontPx).map((minute) => max - 60 * minute),
      values: (u, splits) =>
        splits.map((at) => TEXTS.chart.ago(Math.round(((u.scales['x']?.max ?? at) - at) / 60))),
    },
    {
      ...shared,
      grid,
      size: LEFT_REM * rem,
      gap: 0.375 * rem,
      splits: (_u, _axis, min, max) => [min, (min + max) / 2, max],
      values: (_u, splits) => splits.map((value) => tick(value)),
    },
  ];
}

function options(
  props: ChartProps,
  place: HTMLElement,
  rem: number,
  onHover: (index: number | null) => void,
): uPlot.Options {
  const { lines, scale } = props;
  return {
    width: place.clientWidth,
    height: place.clientHeight,
    padding: [rem / 2, rem / 4, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { setScale: false, x: false, y: false },
      sync: { key: 'page' },
      points: { size: 6 },
    },
    scales: {
      x: { time: false, range: (_u, _min, max) => [(max ?? 0) - WINDOW_SECONDS, max ?? 0] },
      y: {
        range: (_u, min, max) => {
          const [from, to] = scale.range(min ?? 0, max ?? 0);
          return [from, to];
        },
      },
    },
    axes: axes(scale, rem),
    series: [{}, ...lines.map(seriesOf)],
    hooks: { setCursor: [(u) => onHover(u.cursor.idx ?? null)] },
  };
}

const dataOf = (lines: readonly Line[]): uPlot.AlignedData => [
  history.times,
  // uPlot only reads the arrays, and is called for each change.
  ...lines.map((line) => history.series(line.series) as (number | null)[]),
];

/** Draws each change in `target` while it is visible; returns a function that stops. */
function show(target: HTMLElement, props: ChartProps, onHover: (index: number | null) => void): () => void {
  const { lines } = props;
  let chart: uPlot | undefined;
  let isSeen = false;
  let rem = remPx();
  const draw = () => {
    // Created with its data, because a chart that is created empty is drawn twice.
    if (chart === undefined) chart = new uPlot(options(props, target, rem, onHover), dataOf(lines), target);
    else chart.setData(dataOf(lines));
  };
  const update = () => {
    if (isSeen) requestDraw(draw);
  };
  const seen = new IntersectionObserver(
    (entries) => {
      isSeen = entries.at(-1)?.isIntersecting === true;
      update();
    },
    // Drawn slightly before it is scrolled into view.
    { rootMargin: '400px' },
  );
  seen.observe(target);
  const resized = new ResizeObserver(() => {
    // The height is in units of the text size, so a change of it arrives here; uPlot cannot change its fonts.
    if (rem !== remPx()) {
      rem = remPx();
      chart?.destroy();
      chart = undefined;
      update();
    } else chart?.setSize({ width: target.clientWidth, height: target.clientHeight });
  });
  resized.observe(target);
  const unwatch = [sample.watch(update), scheme.watch(() => chart?.redraw())];
  return () => {
    unwatch.forEach((stop) => stop());
    seen.disconnect();
    resized.disconnect();
    cancelDraw(draw);
    chart?.destroy();
  };
}

export function Chart(props: ChartProps) {
  const { title, lines, scale, height = 130 } = props;
  const place = useRef<HTMLDivElement>(null);
  const [hovered, hover] = useState<number | null>(null);
  const shape = lines.map((line) => `${line.series} ${line.isFaint}`).join();
  useEffect(() => {
    const target = place.current;
    return target === null ? undefined : show(target, props, hover);
  }, [shape]);
  useValue(sample);
  const at = hovered ?? history.times.length - 1;
  const named = lines.filter((line) => !line.isFaint);
  const values = named.map((line) => scale.format(history.series(line.series)[at] ?? null));
  const words = named.map((line, i) => `${line.label} ${values[i]}`).join(', ');
  return (
    <div class="chart">
      {named.length > 1 && (
        <ul class="legend" aria-hidden="true">
          {named.map((line, i) => (
            <li key={line.series}>
              <span class={`swatch ${line.colour}${line.isDashed ? ' dashed' : ''}`} />
              {line.label} <b>{values[i]}</b>
            </li>
          ))}
        </ul>
      )}
      <div
        class="plot"
        style={{ minHeight: `${height / 16}rem` }}
        ref={place}
        role="img"
        aria-label={TEXTS.chart.label(title, words)}
      />
    </div>
  );
}
