/** The machines as a table. */
import { isDescending, type Sort } from './choice.ts';
import type { Machine } from './machines.ts';
import { aboutOf, figureOf, HostLink, type ListProps, levelOf, Spark, State, Wake } from './parts.tsx';
import { usePlaying } from './playing.ts';
import { T } from './texts.ts';
import { useWindow } from './window.ts';

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
        <Sorted by="name" kind="name" {...props} />
        <Sorted by="state" kind="condition" {...props} />
        <Sorted by="load" kind="number cpu" {...props} />
        <th scope="col" class="trail more">
          {T.trail}
        </th>
        <Sorted by="memory" kind="number memory" {...props} />
        <Sorted by="disk" kind="number more" {...props} />
        <Sorted by="temperature" kind="number more" {...props} />
        <th scope="col" class="media more">
          {T.media}
        </th>
        <th scope="col" class="about more">
          {T.about}
        </th>
      </tr>
    </thead>
  );
}

function Row({ machine, index }: { readonly machine: Machine; readonly index: number }) {
  const { condition, figures } = machine;
  const about = aboutOf(machine);
  usePlaying(machine);
  return (
    <tr data-item aria-rowindex={index}>
      <th scope="row" class="name">
        <HostLink machine={machine} />
      </th>
      <td class="condition">
        <State state={condition.state} />
      </td>
      <td class="number cpu">{figureOf(machine, 'load')}</td>
      <td class="trail more">
        <Spark machine={machine} />
      </td>
      <td class={`number memory ${levelOf(figures.memory)}`}>{figureOf(machine, 'memory')}</td>
      <td class={`number more ${levelOf(figures.disk)}`}>{figureOf(machine, 'disk')}</td>
      <td class="number more">{figureOf(machine, 'temperature')}</td>
      <td class="media more" title={machine.playing}>
        {machine.playing}
      </td>
      <td class="about more" title={about}>
        {about} <Wake machine={machine} />
      </td>
    </tr>
  );
}

export function Table({ rows, ...choosing }: ListProps) {
  const { ref, first, end, beforePx, afterPx, keyOf } = useWindow(rows.length);
  return (
    <div class="list" ref={ref}>
      <div style={{ paddingTop: `${beforePx}px`, paddingBottom: `${afterPx}px` }}>
        <table aria-label={T.caption} aria-rowcount={rows.length + 1}>
          <Head {...choosing} />
          <tbody>
            {rows.slice(first, end).map((machine, i) => (
              // The head is the first row.
              <Row key={keyOf(first + i)} machine={machine} index={first + i + 2} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
