/** A chart of the shown time, its legend with the values as text, and the chosen moment in it. */
import { useEffect, useId, useRef } from 'preact/hooks';
import { timeOfDay } from '../format.ts';
import { leave, moment, point } from '../moment.ts';
import { drawn, shown } from '../past.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';
import type { Line, Scale } from './line.ts';
import { MomentPanel } from './moment-panel.tsx';
import { plot } from './plot.ts';

interface ChartProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly scale: Scale;
  /** Minimum height in pixels at a text size of 16; the chart grows with its card and with the text. */
  readonly height?: number;
}

function Legend({ lines, values }: { readonly lines: readonly Line[]; readonly values: readonly string[] }) {
  return (
    <ul class="legend" aria-hidden="true">
      {lines.map((line, i) => (
        <li key={line.series}>
          <span class={`swatch ${line.colour}${line.isDashed ? ' dashed' : ''}`} />
          {line.label} <b>{values[i]}</b>
        </li>
      ))}
    </ul>
  );
}

/** Calls `choose` with the pointer's position on the chart in `target`, from 0 to 1; returns a function that stops. */
function followPointer(target: HTMLElement, choose: (part: number) => void): () => void {
  const stop = new AbortController();
  const follow = ({ clientX }: PointerEvent) => {
    // Without the axes.
    const box = target.querySelector('.u-over')?.getBoundingClientRect();
    if (box !== undefined) choose(Math.min(1, Math.max(0, (clientX - box.left) / box.width)));
  };
  target.addEventListener('pointermove', follow, stop);
  target.addEventListener('pointerdown', follow, stop);
  target.addEventListener(
    'pointerleave',
    ({ pointerType }) => {
      // A finger leaves when it is lifted; its choice remains.
      if (pointerType !== 'touch') leave();
    },
    stop,
  );
  return () => stop.abort();
}

export function Chart({ title, lines, scale, height = 130 }: ChartProps) {
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  useValue(drawn);
  const chosen = useValue(moment);
  const history = shown();
  const { range, times } = history;
  const choose = (slot: number) => {
    const at = shown().times[slot];
    if (at !== undefined) point(at, id);
  };
  useEffect(
    () =>
      place.current === null
        ? undefined
        : followPointer(place.current, (part) => choose(Math.round(part * (shown().times.length - 1)))),
    [],
  );
  useEffect(
    () => (place.current === null ? undefined : plot(history, lines, scale, place.current)),
    [range, lines.map((line) => `${line.series} ${line.isFaint}`).join()],
  );
  const slot = chosen === undefined ? times.length - 1 : history.slotOf(chosen.at);
  const named = lines.filter((line) => !line.isFaint);
  const values = named.map((line) => scale.format(history.columns(line.series)?.[0][slot] ?? null));
  const words = named.map((line, i) => `${line.label} ${values[i]}`).join(', ');
  return (
    <div class="chart">
      {named.length > 1 && <Legend lines={named} values={values} />}
      <div class="plot" style={{ minHeight: `${height / 16}rem` }}>
        <div ref={place} role="img" aria-label={TEXTS.chart.label(range.words, title, words)} />
        <input
          type="range"
          aria-label={TEXTS.chart.moment(title)}
          aria-valuetext={TEXTS.chart.at(timeOfDay(times[slot] ?? 0), words)}
          max={times.length - 1}
          value={slot}
          onInput={({ currentTarget }) => choose(currentTarget.valueAsNumber)}
          onBlur={leave}
        />
      </div>
      {chosen?.chart === id && <MomentPanel moment={chosen} words={words} />}
    </div>
  );
}
