/** The machines as a table. */
import { celsius, percent } from '../format.ts';
import { Wake } from '../parts/wake.tsx';
import { useWindow } from '../parts/window.ts';
import { type Group, grouped, isDescending, MAX_COMPARED, type Sort } from './choice.ts';
import type { Machine } from './machines.ts';
import {
  aboutOf,
  asOfText,
  figureOf,
  HostLink,
  isPlayable,
  type ListProps,
  levelOf,
  Spark,
  State,
  shownOf,
  Track,
  trafficText,
} from './parts.tsx';
import { usePast } from './past.ts';
import { usePlaying } from './playing.ts';
import { T } from './texts.ts';

function Sorted({
  by,
  kind,
  choice,
  onChoose,
}: Omit<ListProps, 'rows'> & { readonly by: Sort; readonly kind: string }) {
  const isSorted = choice.sort === by;
  const isDown = isDescending(by) !== (isSorted && choice.isReversed);
  return (
    <th scope="col" aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : 'none'} class={kind}>
      <button
        type="button"
        class="quiet"
        onClick={() => onChoose({ sort: by, isReversed: isSorted && !choice.isReversed })}
      >
        {T.columns[by]}
        <span aria-hidden="true">{isSorted ? (isDown ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  );
}

function Head(props: Omit<ListProps, 'rows'>) {
  return (
    <thead>
      <tr>
        <th scope="col" class="picked">
          <span class="unseen">{T.views.compare}</span>
        </th>
        <Sorted by="name" kind="name" {...props} />
        <Sorted by="state" kind="condition" {...props} />
        <Sorted by="load" kind="number cpu" {...props} />
        <th scope="col" class="trail more">
          {T.trail}
        </th>
        <Sorted by="memory" kind="number memory" {...props} />
        <Sorted by="disk" kind="number disk" {...props} />
        <Sorted by="temperature" kind="number temperature" {...props} />
        <Sorted by="network" kind="network" {...props} />
        <Sorted by="uptime" kind="uptime" {...props} />
        <Sorted by="version" kind="version" {...props} />
        <th scope="col" class="media">
          {T.media}
        </th>
        <th scope="col" class="about">
          {T.about}
        </th>
      </tr>
    </thead>
  );
}

interface RowProps extends Omit<ListProps, 'rows'> {
  readonly machine: Machine;
  readonly index: number;
}

function Picked({ machine: { id, name }, choice: { picked }, onChoose }: Omit<RowProps, 'index'>) {
  const isPicked = picked.includes(id);
  return (
    <td class="picked">
      <input
        type="checkbox"
        aria-label={T.compare(name)}
        checked={isPicked}
        disabled={!isPicked && picked.length >= MAX_COMPARED}
        onChange={() =>
          onChoose({ picked: isPicked ? picked.filter((other) => other !== id) : [...picked, id] })
        }
      />
    </td>
  );
}

function Row({ machine, index, ...choosing }: RowProps) {
  const { memory, disk } = shownOf(machine);
  const about = aboutOf(machine);
  usePlaying(machine);
  usePast(machine);
  return (
    <tr
      data-item
      aria-rowindex={index}
      class={machine.condition.state !== 'up' ? 'past' : isPlayable(machine) ? 'plays' : undefined}
      title={asOfText(machine)}
    >
      <Picked machine={machine} {...choosing} />
      <th scope="row" class="name cut">
        <HostLink machine={machine} />
      </th>
      <td class="condition cut">
        <State machine={machine} />
      </td>
      <td class="number cpu" data-label={T.columns.load}>
        {figureOf(machine, 'load')}
      </td>
      <td class="trail more">
        <Spark machine={machine} />
      </td>
      <td class={`number memory ${levelOf(memory)}`} data-label={T.columns.memory}>
        {figureOf(machine, 'memory')}
      </td>
      <td class={`number disk ${levelOf(disk)}`} data-label={T.columns.disk}>
        {figureOf(machine, 'disk')}
      </td>
      <td class="number temperature">{figureOf(machine, 'temperature')}</td>
      <td class="network">{trafficText(machine)}</td>
      <td class="uptime">{figureOf(machine, 'uptime')}</td>
      <td class="version cut">{machine.version}</td>
      <td class="media cut">
        <Track machine={machine} />
      </td>
      <td class="about cut" title={about}>
        <Wake of={machine} kind="quiet text" /> {about}
      </td>
    </tr>
  );
}

interface GroupProps {
  readonly group: Group;
  /** The name of the label. */
  readonly name: string;
  readonly index: number;
}

/** The heading of a group, with the worst value of each column. */
function GroupRow({ group: { label, machines, down, worst }, name, index }: GroupProps) {
  const shares = [
    ['cpu', 'load', worst.load],
    ['memory', 'memory', worst.memory],
    ['disk', 'disk', worst.disk],
  ] as const;
  const [load, ...others] = shares.map(([kind, column, value]) => (
    <td
      key={kind}
      class={`number ${kind} ${column === 'load' ? '' : levelOf(value)}`}
      data-label={T.columns[column]}
      title={T.worst(percent(value))}
    >
      {percent(value)}
    </td>
  ));
  return (
    <tr data-item aria-rowindex={index} class="group">
      <td class="picked" />
      <th scope="rowgroup" class="name cut">
        {label ?? T.withoutLabel(name)}
      </th>
      <td class="condition cut">
        <span class={`mark ${down > 0 ? 'down' : 'up'}`}>{T.groupOf(machines.length, down)}</span>
      </td>
      {load}
      <td class="trail more" />
      {others}
      <td class="number temperature" title={T.worst(celsius(worst.temperature))}>
        {celsius(worst.temperature)}
      </td>
      <td class="network" />
      <td class="uptime" />
      <td class="version" />
      <td class="media" />
      <td class="about" />
    </tr>
  );
}

/** Returns the rows of the table: machines, after the heading of their group. */
function entriesOf({ rows, choice: { group } }: ListProps): readonly (Machine | Group)[] {
  if (group === undefined) return rows;
  return grouped(rows, group).flatMap((each) => [each, ...each.machines]);
}

export function Table({ rows, ...choosing }: ListProps) {
  const entries = entriesOf({ rows, ...choosing });
  const { ref, first, end, beforePx, afterPx, keyOf } = useWindow(entries.length);
  return (
    <div class="list" ref={ref}>
      <div style={{ paddingTop: `${beforePx}px`, paddingBottom: `${afterPx}px` }}>
        <table aria-label={T.caption} aria-rowcount={entries.length + 1}>
          <Head {...choosing} />
          <tbody>
            {entries.slice(first, end).map((entry, i) => {
              // The head is the first row.
              const place = { key: keyOf(first + i), index: first + i + 2 };
              return 'machines' in entry ? (
                <GroupRow {...place} group={entry} name={choosing.choice.group ?? ''} />
              ) : (
                <Row {...place} machine={entry} {...choosing} />
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}
