/** Processes: the busiest ten from the stream, or all of them in a table that is polled while it is open. */
import { useEffect, useState } from 'preact/hooks';
import type { ProcessListPayload, ProcessShare } from '../../src/wire/process.ts';
import { bytes, count, percent } from '../format.ts';
import { Card } from '../parts/card.tsx';
import { usePolled } from '../parts/poll.ts';
import type { Sample } from '../sample.ts';
import { TEXTS } from '../texts.ts';
import { EndDialog, type Victim } from './end-dialog.tsx';
import { ProcessTable, type Sort } from './process-table.tsx';
import { type CardRow, whyNot } from './row.ts';

const T = TEXTS.processes;
const EVERY_MS = 3000;
const MAX_SHOWN = 60;
const TYPING_MS = 250;

function Top({
  title,
  rows,
  value,
}: {
  readonly title: string;
  readonly rows: readonly ProcessShare[] | null;
  readonly value: (row: ProcessShare) => string;
}) {
  return (
    <div>
      <h3>{title}</h3>
      <ul class="rows">
        {(rows ?? []).map((row) => (
          <li key={row.pid}>
            <span class="name">
              {row.name} <small>{row.pid}</small>
            </span>
            <span class="value">{value(row)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** `text`, once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function All({ mayEnd }: { readonly mayEnd: boolean }) {
  const [typed, type] = useState('');
  const [sort, sortBy] = useState<Sort>('cpu');
  const [isGrouped, group] = useState(true);
  const [victim, choose] = useState<Victim>();
  const query = new URLSearchParams({
    sort,
    limit: String(MAX_SHOWN),
    grouped: String(isGrouped),
    query: useSettled(typed),
  });
  const { value, error, refresh } = usePolled<ProcessListPayload>(`/api/processes?${query}`, EVERY_MS);
  return (
    <>
      <div class="tools">
        <label>
          {T.search}{' '}
          <input type="search" value={typed} onInput={(event) => type(event.currentTarget.value)} />
        </label>
        <label class="check">
          <input type="checkbox" checked={isGrouped} onChange={() => group(!isGrouped)} /> {T.grouped}
        </label>
        {value !== undefined && <p class="note">{T.shown(value.processes.length, value.total_count)}</p>}
      </div>
      {error !== undefined && <p class="problem">{error}</p>}
      {value !== undefined && (
        <ProcessTable
          rows={value.processes}
          sort={sort}
          onSort={sortBy}
          onEnd={mayEnd ? choose : undefined}
        />
      )}
      {victim !== undefined && (
        <EndDialog
          victim={victim}
          onDone={() => {
            choose(undefined);
            refresh();
          }}
        />
      )}
    </>
  );
}

function ProcessCard({
  summary,
  mayEnd,
}: {
  readonly summary: Sample['processes'];
  readonly mayEnd: boolean;
}) {
  const [isOpen, open] = useState(false);
  const note = summary ? T.count(count(summary.count), count(summary.running)) : undefined;
  return (
    <Card title={T.title} note={note} size="full">
      <p class="corner">
        <button type="button" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
          {isOpen ? T.close : T.open}
        </button>
      </p>
      {isOpen ? (
        <All mayEnd={mayEnd} />
      ) : (
        <div class="columns">
          <Top title={T.topCpu} rows={summary?.top_cpu ?? null} value={(row) => percent(row.cpu, 1)} />
          <Top title={T.topMemory} rows={summary?.top_memory ?? null} value={(row) => bytes(row.memory)} />
        </div>
      )}
    </Card>
  );
}

export const PROCESSES: CardRow = {
  Card: ({ sample, system }) => {
    const can = system?.capabilities.processes;
    if (can?.list.enabled !== true || !can.list.supported) return null;
    return <ProcessCard summary={sample.processes} mayEnd={can.control.enabled && can.control.supported} />;
  },
  absences: (_sample, { capabilities: { processes } }) => [
    [T.title, whyNot(processes.list, 'enable_processes')],
    [T.control, whyNot(processes.control, 'enable_process_control')],
  ],
};
