/** Two to six machines side by side: one small chart per machine and figure, with one cursor in all of them. */
import { useEffect, useState } from 'preact/hooks';
import type { HistoryPayload } from '../../src/wire/history.ts';
import { celsius, percent, rate, timeOfDay } from '../format.ts';
import { RANGES, type Range } from '../history.ts';
import { LEAST_RATE } from '../parts/line.ts';
import { usePolled } from '../parts/poll.ts';
import { useValue } from '../value.ts';
import { machines, turn } from './live.ts';
import { HostLink, State } from './parts.tsx';
import { T } from './texts.ts';
import { pathOf, TRAIL_HEIGHT } from './trail.ts';

type Values = readonly (number | null)[];

/** `max`: of the scale; undefined: the greatest value of all machines. */
const ROWS = [
  { name: 'load', series: 'cpu.load', max: 100, format: percent },
  { name: 'memory', series: 'memory.used_percent', max: 100, format: percent },
  { name: 'temperature', series: 'cpu.temperature', max: 100, format: celsius },
  { name: 'receive', series: 'network.receive', max: undefined, format: rate },
  { name: 'send', series: 'network.send', max: undefined, format: rate },
] as const;
const SERIES = ROWS.map(({ series }) => series).join(',');
/** An hour, a day and a week, which all machines keep. */
const SHOWN = RANGES.slice(1, 4);

const valuesOf = (past: HistoryPayload | undefined, series: string): Values =>
  past?.series[series]?.mean ?? [];

interface ColumnProps {
  readonly id: string;
  readonly range: Range;
  readonly onRead: (id: string, past: HistoryPayload) => void;
  readonly pasts: ReadonlyMap<string, HistoryPayload>;
  /** Part of the range, 0 to 1. */
  readonly cursor: number | undefined;
  readonly onPoint: (part: number | undefined) => void;
}

function Column({ id, range, onRead, pasts, cursor, onPoint }: ColumnProps) {
  const machine = machines.at(id);
  const path = `/api/hosts/${encodeURIComponent(id)}/history?series=${SERIES}&since=-${range.seconds}`;
  const { value, error } = usePolled<HistoryPayload>(path, 1000 * range.step);
  useEffect(() => {
    if (value !== undefined) onRead(id, value);
  }, [value]);
  const past = pasts.get(id);
  const point = (event: PointerEvent & { readonly currentTarget: SVGSVGElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    onPoint(Math.min(1, Math.max(0, (event.clientX - left) / width)));
  };
  return (
    <section class="card" aria-label={machine?.name ?? id}>
      <header>
        <h2>{machine === undefined ? id : <HostLink machine={machine} />}</h2>
        {machine !== undefined && <State machine={machine} />}
      </header>
      {error !== undefined && <p class="problem">{error}</p>}
      {ROWS.map(({ name, series, max, format }) => {
        const values = valuesOf(past, series);
        const last = values.findLastIndex((each) => each !== null);
        const at = cursor === undefined ? last : Math.round(cursor * (values.length - 1));
        const all = [...pasts.values()].flatMap((each) => valuesOf(each, series));
        const top = max ?? all.reduce<number>((most, each) => Math.max(most, each ?? 0), LEAST_RATE);
        const length = Math.max(1, values.length - 1);
        return (
          <figure key={name}>
            <figcaption>
              {T.comparison[name]} <b>{format(values[at])}</b>
            </figcaption>
            <svg
              class="spark"
              viewBox={`0 0 ${length} ${TRAIL_HEIGHT}`}
              preserveAspectRatio="none"
              aria-hidden="true"
              onPointerMove={point}
              onPointerLeave={() => onPoint(undefined)}
            >
              <path d={pathOf(values, top)} />
              {cursor !== undefined && <path class="cursor" d={`M${cursor * length} 0V${TRAIL_HEIGHT}`} />}
            </svg>
          </figure>
        );
      })}
    </section>
  );
}

export function Compare({ ids }: { readonly ids: readonly string[] }) {
  useValue(turn);
  const [range, setRange] = useState(RANGES[1]);
  const [cursor, setCursor] = useState<number>();
  const [pasts, setPasts] = useState<ReadonlyMap<string, HistoryPayload>>(new Map());
  if (ids.length < 2) return <p class="empty">{T.compareHelp}</p>;
  const [first] = pasts.values();
  const timeAt = (part: number) =>
    first === undefined ? '' : timeOfDay(first.start + part * first.step * (first.count - 1));
  const shown = cursor ?? 1;
  return (
    <>
      <div class="tools">
        <fieldset class="ranges">
          <legend class="unseen">{T.range}</legend>
          {SHOWN.map((each) => (
            <label key={each.label}>
              <input
                type="radio"
                name="range"
                checked={each === range}
                onChange={() => {
                  setRange(each);
                  setPasts(new Map());
                }}
              />
              <span class="pill">{each.label}</span>
            </label>
          ))}
        </fieldset>
        <label class="search">
          {T.time}
          <input
            type="range"
            min={0}
            max={1}
            step={0.005}
            value={shown}
            aria-valuetext={timeAt(shown)}
            onInput={({ currentTarget }) => setCursor(Number(currentTarget.value))}
          />
          <output>{timeAt(shown)}</output>
        </label>
      </div>
      <div class="compared">
        {ids.map((id) => (
          <Column
            key={id}
            id={id}
            range={range}
            pasts={pasts}
            onRead={(of, past) => setPasts((before) => new Map([...before, [of, past]]))}
            cursor={cursor}
            onPoint={setCursor}
          />
        ))}
      </div>
    </>
  );
}
