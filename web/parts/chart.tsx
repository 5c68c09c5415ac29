/** A chart of the shown time, its legend with the values as text, and the chosen moment in it. */
import { useEffect, useRef } from 'preact/hooks';
import { moment, pinned, selected } from '../chosen.ts';
import { momentText } from '../format.ts';
import { leave, pin, point } from '../moment.ts';
import { drawn, shown } from '../past.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';
import type { Line, Scale } from './line.ts';
import { MomentPanel } from './moment-panel.tsx';
import { plot } from './plot.ts';
import { followPointer, onKey, onMoved } from './pointing.ts';

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
          <span
            class={line.isDashed ? 'swatch dashed' : 'swatch'}
            style={{ borderColor: `var(--${line.colour})` }}
          />
          {line.label} <b>{values[i]}</b>
        </li>
      ))}
    </ul>
  );
}

export function Chart({ title, lines, scale, height = 130 }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  useValue(drawn);
  const chosen = useValue(moment);
  const time = useValue(selected);
  const history = shown();
  const { range, times } = history;
  const choose = (slot: number, isClick: boolean) => {
    const at = shown().times[slot];
    if (at === undefined) return;
    if (!isClick) point(at, title);
    else pin(pinned.current?.at === at ? undefined : { at, chart: title });
  };
  useEffect(
    () =>
      place.current === null
        ? undefined
        : followPointer(place.current, (at, isClick) => {
            // A pinned moment stays where it is.
            if (isClick || pinned.current === undefined) choose(at, isClick);
          }),
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
          aria-describedby="keys"
          aria-valuetext={
            time === undefined
              ? TEXTS.chart.at(momentText(times[slot] ?? 0, range.step), words)
              : TEXTS.chart.selected(momentText(Math.min(...time)), momentText(Math.max(...time)))
          }
          max={times.length - 1}
          value={slot}
          onInput={({ currentTarget: { valueAsNumber } }) => {
            choose(valueAsNumber, pinned.current !== undefined);
            onMoved(times[valueAsNumber] ?? 0);
          }}
          onKeyDown={(event) => onKey(event, times[slot] ?? 0)}
          onBlur={() => {
            leave();
            selected.set(undefined);
          }}
        />
      </div>
      {chosen?.chart === title && <MomentPanel moment={chosen} words={words} lines={named} />}
    </div>
  );
}
