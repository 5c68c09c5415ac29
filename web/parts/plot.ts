/** Draws a chart of the shown history with uPlot. */
import uPlot from 'uplot';
import { moment, selected } from '../chosen.ts';
import { tickText } from '../format.ts';
import type { History, Range } from '../history.ts';
import { leave } from '../moment.ts';
import { drawn, notes, zoomIn } from '../past.ts';
import { cancelDraw, requestDraw } from './draw-queue.ts';
import type { Line, Scale } from './line.ts';
import { colourOf, scheme } from './palette.ts';
import { tickStep, ticksIn } from './ticks.ts';

/** In units of the text size, like everything in the style sheet: a user may have made text larger. */
const FONT_REM = 0.6875;
const LEFT_REM = 4.125;
/** Width of the widest label of the time axis and its distance from the next one, in units of its own font. */
const LABEL_EM = 5;
const POINT_PX = 6;

const remPx = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

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

function axes({ format, tick = format }: Scale, range: Range, rem: number): uPlot.Axis[] {
  const fontPx = FONT_REM * rem;
  const font = `${fontPx}px system-ui, sans-serif`;
  const shared = { stroke: () => colourOf('muted'), font, ticks: { show: false } };
  const labelPx = fontPx * LABEL_EM;
  const stepOn = (u: uPlot) => tickStep(range.seconds, u.width - LEFT_REM * rem, labelPx);
  const grid = { stroke: () => colourOf('grid'), width: 1 };
  return [
    {
      ...shared,
      grid: { show: false },
      size: 1.25 * rem,
      gap: 0.25 * rem,
      // A label at the edge would leave the chart.
      splits: (u, _axis, min, max) => {
        const edge = (labelPx / 2 / (u.width - LEFT_REM * rem)) * (max - min);
        return [...ticksIn(min, max - edge, stepOn(u))];
      },
      values: (u, splits) => splits.map((at) => tickText(at, stepOn(u))),
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

/** An edge of a band. */
const EDGE: uPlot.Series = { width: 0, points: { show: false } };

/** Lines with a band from the minimum to the maximum of each slot. */
const banded = (lines: readonly Line[], { range }: History) =>
  range.step === 1 ? [] : lines.filter((line) => !line.isFaint);

/** Draws a dotted line with a flag at each start, stop, sleep and change of the clock; the chosen moment is a full line. */
function drawMarks(u: uPlot): void {
  const { left, top, width, height } = u.bbox;
  const px = devicePixelRatio;
  const colour = colourOf('muted');
  for (const { at } of notes.current.marks) {
    const x = Math.round(u.valToPos(at, 'x', true));
    if (x < left || x > left + width) continue;
    u.ctx.fillStyle = colour;
    u.ctx.fillRect(x, top, 4 * px, 4 * px);
    for (let y = top; y < top + height; y += 5 * px) u.ctx.fillRect(x, y, 1, 2 * px);
  }
}

/** Marks the time that is being selected by keyboard or touch. */
function markSelected(u: uPlot): void {
  const [from, to] = selected.current ?? [0, 0];
  const left = u.valToPos(Math.min(from, to), 'x');
  const width = u.valToPos(Math.max(from, to), 'x') - left;
  u.setSelect({ left, top: 0, width, height: u.over.clientHeight }, false);
}

/** The selected time moves with the chart, which may have been created since. A mouse's selection is uPlot's own. */
function keepSelected(u: uPlot): void {
  if (selected.current !== undefined) markSelected(u);
}

/** Shows the selected time in all charts. */
function zoomInto(u: uPlot): void {
  const { left, width } = u.select;
  if (width === 0) return;
  u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  leave();
  zoomIn(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'));
}

function options(
  history: History,
  lines: readonly Line[],
  scale: Scale,
  place: HTMLElement,
  rem: number,
): uPlot.Options {
  const { range } = history;
  const bands = banded(lines, history);
  return {
    width: place.clientWidth,
    height: place.clientHeight,
    padding: [rem / 2, rem / 4, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { setScale: false, x: true, y: false, dist: 5 },
      points: { size: (_u, series) => (series > lines.length ? 0 : POINT_PX) },
      // All charts show the same moment, which stays under a resting pointer while time advances.
      move: (u) => {
        const at = moment.current?.at;
        return at === undefined ? [-10, -10] : [u.valToPos(at, 'x'), 0];
      },
    },
    scales: {
      x: {
        time: false,
        // One that ends now has the slot that is being filled, too.
        range: (_u, _min, max) => [
          (max ?? 0) - range.seconds + (range.from === undefined ? 0 : range.step),
          max ?? 0,
        ],
      },
      y: {
        range: (_u, min, max) => {
          const [from, to] = scale.range(min ?? 0, max ?? 0);
          return [from, to];
        },
      },
    },
    axes: axes(scale, range, rem),
    series: [{}, ...lines.map(seriesOf), ...bands.flatMap(() => [EDGE, EDGE])],
    bands: bands.map((line, i) => ({
      series: [lines.length + 2 * i + 2, lines.length + 2 * i + 1],
      fill: () => `${colourOf(line.colour)}38`,
    })),
    hooks: { draw: [drawMarks, keepSelected], setSelect: [zoomInto] },
  };
}

function dataOf(history: History, lines: readonly Line[]): uPlot.AlignedData {
  const unknown = history.times.map(() => null);
  const column = ({ series }: Line, i: number) => history.columns(series)?.[i] ?? unknown;
  return [
    history.times,
    ...lines.map((line) => column(line, 0)),
    ...banded(lines, history).flatMap((line) => [column(line, 1), column(line, 2)]),
  ];
}

/** Draws each change of `history` in `target` while it is visible; returns a function that stops. */
export function plot(
  history: History,
  lines: readonly Line[],
  scale: Scale,
  target: HTMLElement,
): () => void {
  let chart: uPlot | undefined;
  let isSeen = false;
  let rem = remPx();
  const draw = () => {
    // Created with its data, because a chart that is created empty is drawn twice.
    const data = dataOf(history, lines);
    if (chart === undefined) chart = new uPlot(options(history, lines, scale, target, rem), data, target);
    else chart.setData(data);
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
    // The height is in units of the text size, so a change of the size arrives here; uPlot cannot change its
    // fonts.
    if (rem !== remPx()) {
      rem = remPx();
      chart?.destroy();
      chart = undefined;
      update();
    } else chart?.setSize({ width: target.clientWidth, height: target.clientHeight });
  });
  resized.observe(target);
  const unwatch = [
    drawn.watch(update),
    notes.watch(update),
    scheme.watch(() => chart?.redraw()),
    // The position is that of the moment, regardless of the arguments.
    moment.watch(() => chart?.setCursor({ left: 0, top: 0 })),
    selected.watch(() => chart && markSelected(chart)),
  ];
  return () => {
    unwatch.forEach((stop) => stop());
    seen.disconnect();
    resized.disconnect();
    cancelDraw(draw);
    chart?.destroy();
  };
}
