/** Processes: the busiest ten from the stream, or all of them in a table. */
import { useMemo, useState } from 'preact/hooks';
import type { ProcessListPayload, ProcessRow, ProcessShare } from '../../../src/wire/process.ts';
import { useMay } from '../../access.ts';
import { bytes, percent } from '../../format.ts';
import { Card } from '../../parts/card.tsx';
import { usePolled } from '../../parts/poll.ts';
import type { Sample, System } from '../../sample.ts';
import { TEXTS } from '../../texts.ts';
import { useValue } from '../../value.ts';
import { type CardRow, whyNot } from '../row.ts';
import { All, noteListing, pathOf } from './all.tsx';
import { Details } from './details.tsx';
import { EndDialog, type Victim } from './end-dialog.tsx';
import { type Guard, guardOf } from './guard.ts';
import { isOpenIn } from './listing.ts';
import { look, subject as opened, TopRow } from './top-row.tsx';

const T = TEXTS.processes;
/** Age from which figures are shown with it. */
const FRESH_SECONDS = 2;

const GUARD_EVERY_MS = 15_000;

/** Sorted by memory: if there are more than the service lists, threads of the kernel are missing. */
const EVERYTHING = pathOf({ grouped: 'false', sort: 'memory' });

/** Undefined unless it is needed, and until all processes are known. */
function useGuard(
  isNeeded: boolean,
  system: System,
): { readonly guard: Guard | undefined; readonly renew: () => void } {
  const { value, refresh } = usePolled<ProcessListPayload>(isNeeded ? EVERYTHING : undefined, GUARD_EVERY_MS);
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

interface TopProps {
  readonly title: string;
  readonly rows: readonly ProcessShare[] | null;
  readonly value: (row: ProcessShare) => string;
}

function Top({ title, rows, value }: TopProps) {
  return (
    <div>
      <h3>{title}</h3>
      <ul class="rows">
        {rows === null && <li class="note">{TEXTS.measuring}</li>}
        {(rows ?? []).map((row) => (
          <TopRow key={row.pid} row={row} value={value(row)} />
        ))}
      </ul>
    </div>
  );
}

function noteOf(summary: Sample['processes']): string | undefined {
  if (!summary) return undefined;
  const { age_seconds } = summary;
  const note = T.count(summary.count, summary.running);
  return age_seconds > FRESH_SECONDS ? `${note} · ${T.age(Math.round(age_seconds))}` : note;
}

interface ProcessCardProps {
  readonly summary: Sample['processes'];
  readonly system: System;
}

function ProcessCard({ summary, system }: ProcessCardProps) {
  const [isOpen, open] = useState(() => isOpenIn(new URLSearchParams(location.search)));
  const subject = useValue(opened);
  const [victim, choose] = useState<Victim>();
  const [turn, next] = useState(0);
  const { control } = system.capabilities.processes;
  const mayEnd = useMay()('processes.control') && control.enabled && control.supported;
  const { guard, renew } = useGuard(mayEnd && (isOpen || subject !== undefined), system);
  const onEnd = (chosen: Victim) => {
    look(undefined);
    choose(chosen);
  };
  const ending = { guard, onEnd: mayEnd ? onEnd : undefined };
  const toggle = (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={() => {
        open(!isOpen);
        if (isOpen) noteListing(undefined);
      }}
    >
      {isOpen ? T.close : T.open}
    </button>
  );
  return (
    <Card title={T.title} note={noteOf(summary)} size="full" action={toggle}>
      {isOpen ? (
        <All turn={turn} onOpen={look} {...ending} />
      ) : (
        <div class="columns">
          <Top title={T.topCpu} rows={summary?.top_cpu ?? null} value={(row) => percent(row.cpu, 1)} />
          <Top title={T.topMemory} rows={summary?.top_memory ?? null} value={(row) => bytes(row.memory)} />
        </div>
      )}
      {subject !== undefined && <Details subject={subject} {...ending} onClose={() => look(undefined)} />}
      {victim !== undefined && (
        <EndDialog
          victim={victim}
          onDone={() => {
            choose(undefined);
            next(turn + 1);
            renew();
          }}
        />
      )}
    </Card>
  );
}

export const PROCESSES: CardRow = {
  Card: ({ sample, system }) => {
    const can = system?.capabilities.processes.list;
    const may = useMay();
    if (!may('processes')) return null;
    if (system === undefined || can?.enabled !== true || !can.supported) return null;
    return <ProcessCard summary={sample.processes} system={system} />;
  },
  absences: (_sample, { capabilities: { processes } }) => [
    [T.title, whyNot(processes.list, 'enable_processes'), 'processes'],
    [T.control, whyNot(processes.control, 'enable_process_control'), 'processes.control'],
  ],
};
