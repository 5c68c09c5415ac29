/** The table of processes; only the visible rows are rendered. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { bytes, clock, count, percent, rate } from '../../format.ts';
import { useWindow } from '../../parts/window.ts';
import { TEXTS } from '../../texts.ts';
import type { Subject } from './details.tsx';
import { type Victim, victimOf } from './end-dialog.tsx';
import type { Guard } from './guard.ts';
import { type Column, diskOf, isDescending, type Listing, type Row } from './listing.ts';

const T = TEXTS.processes;

const keyOf = (row: Row) => ('pid' in row ? String(row.pid) : row.name);

/** undefined if the service would refuse to end it. */
function endable(row: Row, guard: Guard | undefined): Victim | undefined {
  const mayEnd = 'ppid' in row ? guard?.mayEnd(row) : guard?.mayEndAll(row.name);
  return mayEnd === true ? victimOf(row) : undefined;
}

export interface TableProps {
  readonly rows: readonly Row[];
  readonly listing: Listing;
  readonly onSort: (change: Pick<Listing, 'sort' | 'isReversed'>) => void;
  readonly onOpen: (subject: Subject) => void;
  /** undefined: processes cannot be ended. */
  readonly onEnd: ((victim: Victim) => void) | undefined;
  /** undefined: not known yet. */
  readonly guard: Guard | undefined;
}

interface SortedProps extends Pick<TableProps, 'listing' | 'onSort'> {
  readonly by: Column;
  readonly kind: string;
}

function Sorted({ by, kind, listing: { sort, isReversed }, onSort }: SortedProps) {
  const isSorted = by === sort;
  const isDown = isDescending(by) !== (isSorted && isReversed);
  return (
    <th scope="col" aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : 'none'} class={kind}>
      <button
        type="button"
        class="quiet"
        onClick={() => onSort({ sort: by, isReversed: isSorted && !isReversed })}
      >
        {T.columns[by]}
        <span aria-hidden="true">{isSorted ? (isDown ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  );
}

function Head({ areGroups, listing, onSort, onEnd }: TableProps & { readonly areGroups: boolean }) {
  const sorting = { listing, onSort };
  return (
    <thead>
      <tr>
        <Sorted by="name" kind="name" {...sorting} />
        <Sorted by={areGroups ? 'count' : 'pid'} kind="number more" {...sorting} />
        {!areGroups && <Sorted by="user" kind="more user cut" {...sorting} />}
        <Sorted by="cpu" kind="number cpu" {...sorting} />
        <Sorted by="memory" kind="number memory" {...sorting} />
        <Sorted by="disk" kind="number io" {...sorting} />
        {!areGroups && <Sorted by="threads" kind="number threads" {...sorting} />}
        <Sorted by="time" kind="number more" {...sorting} />
        {onEnd !== undefined && (
          <th scope="col" class="act">
            {T.act}
          </th>
        )}
      </tr>
    </thead>
  );
}

function BodyRow({
  row,
  index,
  onOpen,
  onEnd,
  guard,
}: TableProps & { readonly row: Row; readonly index: number }) {
  const victim = endable(row, guard);
  return (
    <tr data-item aria-rowindex={index}>
      <th scope="row" class="name cut">
        <button
          type="button"
          class="quiet open cut"
          aria-haspopup="dialog"
          data-key={`open ${keyOf(row)}`}
          onClick={() => onOpen('pid' in row ? { name: row.name, pid: row.pid } : { name: row.name })}
        >
          {row.name}
        </button>
      </th>
      <td class="number more">{'count' in row ? row.count : row.pid}</td>
      {!('count' in row) && <td class="more user cut">{'user' in row ? row.user : ''}</td>}
      <td class="number cpu">{percent(row.cpu, 1)}</td>
      <td class="number memory">{bytes(row.memory)}</td>
      <td class="number io">{rate(diskOf(row))}</td>
      {!('count' in row) && <td class="number threads">{count('threads' in row ? row.threads : null)}</td>}
      <td class="number more">{clock(row.cpu_time)}</td>
      {onEnd !== undefined && (
        <td class="act">
          {victim !== undefined && (
            <button
              type="button"
              class="quiet"
              data-key={`end ${keyOf(row)}`}
              aria-label={T.endWhat(victim.what)}
              onClick={() => onEnd(victim)}
            >
              {T.end}
            </button>
          )}
        </td>
      )}
    </tr>
  );
}

/** Browsers drop the focus of a moved element, so it is restored to the button of the same process. */
function useKeptFocus(rows: readonly Row[]) {
  const body = useRef<HTMLTableSectionElement>(null);
  const focused = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    if (focused.current === undefined || document.activeElement !== document.body) return;
    const button = body.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused.current)}"]`);
    button?.focus({ preventScroll: true });
  }, [rows]);
  const onFocusIn = (event: FocusEvent) => {
    focused.current = event.target instanceof HTMLElement ? event.target.dataset['key'] : undefined;
  };
  const onFocusOut = (event: FocusEvent) => {
    if (event.relatedTarget !== null) focused.current = undefined;
  };
  return { ref: body, onFocusIn, onFocusOut };
}

export function ProcessTable(props: TableProps) {
  const { rows } = props;
  const kept = useKeptFocus(rows);
  const { ref, first, end, beforePx, afterPx } = useWindow(rows.length);
  const areGroups = rows.some((row) => 'count' in row);
  if (rows.length === 0) return <p class="empty">{T.none}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1)
    <section class="scroll" tabIndex={0} aria-label={T.caption}>
      <div ref={ref} style={{ paddingTop: `${beforePx}px`, paddingBottom: `${afterPx}px` }}>
        <table aria-rowcount={rows.length + 1}>
          <Head {...props} areGroups={areGroups} />
          <tbody {...kept}>
            {rows.slice(first, end).map((row, i) => (
              // The head is the first row.
              <BodyRow key={keyOf(row)} {...props} row={row} index={first + i + 2} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
