/** The table of processes. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ProcessListPayload } from '../../src/wire/process.ts';
import { bytes, clock, percent } from '../format.ts';
import { TEXTS } from '../texts.ts';
import type { Victim } from './end-dialog.tsx';

const T = TEXTS.processes;

export type Sort = 'name' | 'cpu' | 'memory';
type Row = ProcessListPayload['processes'][number];

/** The service's sort order for each column. */
const DIRECTIONS = { name: 'ascending', cpu: 'descending', memory: 'descending' } as const;

const keyOf = (row: Row) => ('pid' in row ? String(row.pid) : row.name);

const victimOf = (row: Row): Victim =>
  'started_at' in row
    ? { what: T.one(row.name, row.pid), body: { pid: row.pid, started_at: row.started_at } }
    : { what: T.group(row.name, 'count' in row ? row.count : 1), body: { name: row.name } };

interface TableProps {
  readonly rows: readonly Row[];
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  /** undefined: processes cannot be ended. */
  readonly onEnd: ((victim: Victim) => void) | undefined;
}

function Sorted({ by, sort, onSort }: { readonly by: Sort } & Pick<TableProps, 'sort' | 'onSort'>) {
  const isSorted = by === sort;
  return (
    <th
      scope="col"
      aria-sort={isSorted ? DIRECTIONS[by] : 'none'}
      class={by === 'name' ? undefined : 'number'}
    >
      <button type="button" class="quiet" onClick={() => onSort(by)}>
        {T.columns[by]}
        <span aria-hidden="true">{isSorted ? (DIRECTIONS[by] === 'ascending' ? ' ↑' : ' ↓') : ''}</span>
      </button>
    </th>
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

export function ProcessTable({ rows, sort, onSort, onEnd }: TableProps) {
  const kept = useKeptFocus(rows);
  const areGroups = rows.some((row) => 'count' in row);
  if (rows.length === 0) return <p class="empty">{T.none}</p>;
  return (
    // Scrolls sideways on small screens, also by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1)
    <section class="scroll" tabIndex={0} aria-label={T.caption}>
      <table>
        <thead>
          <tr>
            <Sorted by="name" sort={sort} onSort={onSort} />
            {areGroups ? (
              <th scope="col" class="number">
                {T.columns.count}
              </th>
            ) : (
              <>
                <th scope="col" class="number">
                  {T.columns.pid}
                </th>
                <th scope="col">{T.columns.user}</th>
              </>
            )}
            <Sorted by="cpu" sort={sort} onSort={onSort} />
            <Sorted by="memory" sort={sort} onSort={onSort} />
            <th scope="col" class="number">
              {T.columns.time}
            </th>
            {onEnd !== undefined && (
              <th scope="col" class="act">
                {T.act}
              </th>
            )}
          </tr>
        </thead>
        <tbody {...kept}>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              <th scope="row" title={'path' in row ? (row.path ?? undefined) : undefined}>
                {row.name}
              </th>
              {'count' in row ? (
                <td class="number">{row.count}</td>
              ) : (
                <>
                  <td class="number">{row.pid}</td>
                  <td>{row.user}</td>
                </>
              )}
              <td class="number">{percent(row.cpu, 1)}</td>
              <td class="number">{bytes(row.memory)}</td>
              <td class="number">{clock(row.cpu_time)}</td>
              {onEnd !== undefined && (
                <td class="act">
                  <button
                    type="button"
                    class="quiet"
                    data-key={keyOf(row)}
                    aria-label={T.endWhat(victimOf(row).what)}
                    onClick={() => onEnd(victimOf(row))}
                  >
                    {T.end}
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
