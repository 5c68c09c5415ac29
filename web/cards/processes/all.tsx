/** All processes in a table, with a search; polled while it is open. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ProcessListPayload, ProcessRow } from '../../../src/wire/process.ts';
import { usePolled } from '../../parts/poll.ts';
import type { System } from '../../sample.ts';
import { TEXTS } from '../../texts.ts';
import { Details, type Subject } from './details.tsx';
import { EndDialog, type Victim } from './end-dialog.tsx';
import { type Guard, guardOf } from './guard.ts';
import { ProcessTable, type Sort } from './table.tsx';

const T = TEXTS.processes;
/** Maximum number of rows that the service lists. */
const MAX_ROWS = '10000';
const EVERY_MS = 3000;
/** Length from which a list is polled less often: thousands of rows are megabytes, and are read less often too. */
const LONG_ROWS = 1000;
const LONG_EVERY_MS = 10_000;
const GUARD_EVERY_MS = 15_000;
const TYPING_MS = 250;

const pathOf = (query: Readonly<Record<string, string>>) =>
  `/api/processes?${new URLSearchParams({ ...query, limit: MAX_ROWS })}`;

/** Sorted by memory: if there are more than the service lists, threads of the kernel are missing. */
const EVERYTHING = pathOf({ grouped: 'false', sort: 'memory' });

/** Returns `text` once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** Undefined if processes cannot be ended, and until all processes are known. */
function useGuard(
  mayEnd: boolean,
  system: System,
): { readonly guard: Guard | undefined; readonly renew: () => void } {
  const { value, refresh } = usePolled<ProcessListPayload>(mayEnd ? EVERYTHING : undefined, GUARD_EVERY_MS);
  const { platform, service } = system;
  const guard = useMemo(
    () =>
      value &&
      guardOf(
        value.processes.filter((row): row is ProcessRow => 'ppid' in row),
        { pid: service.pid, platform },
      ),
    [value, service.pid, platform],
  );
  return { guard, renew: refresh };
}

export function All({ mayEnd, system }: { readonly mayEnd: boolean; readonly system: System }) {
  const [typed, type] = useState('');
  const [sort, sortBy] = useState<Sort>('cpu');
  const [isGrouped, group] = useState(true);
  const [isLong, setLong] = useState(false);
  const [subject, open] = useState<Subject>();
  const [victim, choose] = useState<Victim>();
  const query = useSettled(typed);
  const path = pathOf({ sort, grouped: String(isGrouped), query });
  const { value, error, refresh } = usePolled<ProcessListPayload>(path, isLong ? LONG_EVERY_MS : EVERY_MS);
  const { guard, renew } = useGuard(mayEnd, system);
  const rows = value?.processes ?? [];
  useEffect(() => setLong(rows.length > LONG_ROWS), [rows.length]);
  const onEnd = mayEnd ? choose : undefined;
  const areGroups = rows.some((row) => 'count' in row);
  return (
    <>
      <div class="tools">
        <label class="search">
          {T.search}{' '}
          <input type="search" value={typed} onInput={(event) => type(event.currentTarget.value)} />
        </label>
        <label class="check">
          <input type="checkbox" checked={isGrouped} onChange={() => group(!isGrouped)} /> {T.grouped}
        </label>
        {value !== undefined && (
          <p class="note">{T.shown(rows.length, value.total_count, areGroups, query !== '')}</p>
        )}
      </div>
      {error !== undefined && <p class="problem">{error}</p>}
      {value !== undefined && (
        <ProcessTable rows={rows} sort={sort} onSort={sortBy} onOpen={open} onEnd={onEnd} guard={guard} />
      )}
      {subject !== undefined && (
        <Details
          subject={subject}
          guard={guard}
          onEnd={
            onEnd &&
            ((chosen) => {
              open(undefined);
              onEnd(chosen);
            })
          }
          onClose={() => open(undefined)}
        />
      )}
      {victim !== undefined && (
        <EndDialog
          victim={victim}
          onDone={() => {
            choose(undefined);
            refresh();
            renew();
          }}
        />
      )}
    </>
  );
}
