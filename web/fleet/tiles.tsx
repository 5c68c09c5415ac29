/** The machines as tiles. */

import { Wake } from '../parts/wake.tsx';
import { useWindow } from '../parts/window.ts';
import type { Machine } from './machines.ts';
import {
  aboutOf,
  asOfText,
  figureOf,
  HostLink,
  type ListProps,
  levelOf,
  Spark,
  State,
  shownOf,
  Track,
} from './parts.tsx';
import { usePast } from './past.ts';
import { usePlaying } from './playing.ts';
import { T } from './texts.ts';

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
  const { memory, disk } = shownOf(machine);
  const about = aboutOf(machine);
  const asOf = asOfText(machine);
  usePlaying(machine);
  usePast(machine);
  return (
    <li
      data-item
      class={asOf === undefined ? 'card tile' : 'card tile past'}
      title={asOf}
      aria-posinset={place}
      aria-setsize={of}
    >
      <header>
        <h2 class="cut">
          <HostLink machine={machine} />
        </h2>
        <State machine={machine} />
      </header>
      <p class="note cut" title={about}>
        <Wake of={machine} kind="quiet text" /> {about}
      </p>
      <p class="note media">
        <Track machine={machine} />
      </p>
      <Spark machine={machine} />
      <dl>
        <Figure label={T.columns.load} value={figureOf(machine, 'load')} />
        <Figure label={T.columns.memory} value={figureOf(machine, 'memory')} share={memory} />
        <Figure label={T.columns.disk} value={figureOf(machine, 'disk')} share={disk} />
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
