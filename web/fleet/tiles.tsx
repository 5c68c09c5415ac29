/** The machines as tiles. */
import type { Machine } from './machines.ts';
import { aboutOf, figureOf, HostLink, type ListProps, levelOf, Spark, State, Wake } from './parts.tsx';
import { usePlaying } from './playing.ts';
import { T } from './texts.ts';
import { useWindow } from './window.ts';

interface FigureProps {
  readonly label: string;
  readonly value: string;
  /** In percent, for the bar; undefined: none. */
  readonly share?: number | null;
}

function Figure({ label, value, share }: FigureProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
      {share !== undefined && (
        <dd class={`bar ${levelOf(share)}`} aria-hidden="true">
          <span style={{ width: `${share ?? 0}%` }} />
        </dd>
      )}
    </div>
  );
}

interface TileProps {
  readonly machine: Machine;
  readonly place: number;
  readonly of: number;
}

function Tile({ machine, place, of }: TileProps) {
  const { condition, figures } = machine;
  const about = aboutOf(machine);
  usePlaying(machine);
  return (
    <li data-item class="card tile" aria-posinset={place} aria-setsize={of}>
      <header>
        <h2>
          <HostLink machine={machine} />
        </h2>
        <State state={condition.state} />
      </header>
      <p class="note" title={about}>
        {about} <Wake machine={machine} />
      </p>
      <p class="note" title={machine.playing}>
        {machine.playing}
      </p>
      <Spark machine={machine} />
      <dl>
        <Figure label={T.columns.load} value={figureOf(machine, 'load')} />
        <Figure label={T.columns.memory} value={figureOf(machine, 'memory')} share={figures.memory} />
        <Figure label={T.columns.disk} value={figureOf(machine, 'disk')} share={figures.disk} />
        <Figure label={T.columns.temperature} value={figureOf(machine, 'temperature')} />
      </dl>
    </li>
  );
}

export function Tiles({ rows }: ListProps) {
  const { ref, first, end, beforePx, afterPx, keyOf } = useWindow(rows.length);
  return (
    <div class="wall" ref={ref}>
      <div style={{ paddingTop: `${beforePx}px`, paddingBottom: `${afterPx}px` }}>
        <ul class="tiles">
          {rows.slice(first, end).map((machine, i) => (
            <Tile key={keyOf(first + i)} machine={machine} place={first + i + 1} of={rows.length} />
          ))}
        </ul>
      </div>
    </div>
  );
}
