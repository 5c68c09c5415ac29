/** The details of one process, or of all processes of one name, in a dialog. */
import { useState } from 'preact/hooks';
import type { ProcessDetailRow, ProcessDetailsPayload } from '../../../src/wire/process.ts';
import { bytes, clock, count, duration, percent } from '../../format.ts';
import { serviceNow } from '../../live.ts';
import { type Fact, Facts } from '../../parts/card.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { usePolled } from '../../parts/poll.ts';
import { TEXTS } from '../../texts.ts';
import { type Victim, victimOf } from './end-dialog.tsx';
import type { Guard } from './guard.ts';

const T = TEXTS.processes;
const EVERY_MS = 3000;

/** With a pid: that process; otherwise all processes of that name. */
export interface Subject {
  readonly name: string;
  readonly pid?: number;
}

function factsOf(row: ProcessDetailRow): readonly Fact[] {
  return [
    [T.facts.pid, String(row.pid)],
    [T.facts.user, row.user],
    [T.facts.state, T.states[row.state]],
    [T.facts.started, T.started(new Date(row.started_at * 1000), duration(serviceNow() - row.started_at))],
    [T.facts.threads, count(row.threads)],
    [T.facts.cpu, percent(row.cpu, 1)],
    [T.facts.memory, bytes(row.memory)],
    [T.facts.time, clock(row.cpu_time)],
    [T.facts.files, count(row.open_files)],
    [T.facts.parent, String(row.ppid)],
  ];
}

/** The service omits facts that its configuration hides. */
function One({ row }: { readonly row: ProcessDetailRow }) {
  const texts: readonly (readonly [label: string, text: string | null | undefined])[] = [
    [T.facts.path, row.path],
    [T.facts.command, row.command?.join(' ')],
    [T.facts.folder, row.cwd],
  ];
  const known = texts.flatMap(([label, text]): readonly Fact[] => (text ? [[label, text]] : []));
  return (
    <>
      <Facts facts={factsOf(row)} />
      <div class="long">
        <Facts facts={known} />
      </div>
    </>
  );
}

interface ManyProps {
  readonly of: ProcessDetailsPayload;
  readonly onOpen: (subject: Subject) => void;
}

function Many({ of, onOpen }: ManyProps) {
  const facts: readonly Fact[] = [
    [T.columns.count, count(of.count)],
    [T.facts.cpu, percent(of.cpu, 1)],
    [T.facts.memory, bytes(of.memory)],
    [T.facts.time, clock(of.cpu_time)],
  ];
  return (
    <>
      <Facts facts={facts} />
      {of.count > of.processes.length && <p class="note">{T.firstOf(of.processes.length, of.count)}</p>}
      <ul class="rows">
        {of.processes.map((row) => (
          <li key={row.pid}>
            <span class="name">
              <button
                type="button"
                class="quiet text"
                onClick={() => onOpen({ name: row.name, pid: row.pid })}
              >
                {row.pid}
              </button>{' '}
              <small>{T.ofUser(row.user, T.states[row.state])}</small>
            </span>
            <span class="value">
              <span>{percent(row.cpu, 1)}</span> <span>{bytes(row.memory)}</span>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

interface DetailsProps {
  readonly subject: Subject;
  readonly guard: Guard | undefined;
  /** undefined: processes cannot be ended. */
  readonly onEnd: ((victim: Victim) => void) | undefined;
  readonly onClose: () => void;
}

export function Details({ subject, guard, onEnd, onClose }: DetailsProps) {
  const [{ name, pid }, open] = useState(subject);
  const path = `/api/processes/${pid ?? encodeURIComponent(name)}`;
  const { value, error } = usePolled<ProcessDetailsPayload>(path, EVERY_MS);
  // The answer to the previous path is shown until the next one arrives; it may be about other processes.
  const rows = value?.name === name ? value.processes : [];
  const one =
    pid === undefined && value?.count !== 1
      ? undefined
      : rows.find((row) => pid === undefined || row.pid === pid);
  const mayEnd = one === undefined ? guard?.mayEndAll(name) : guard?.mayEnd(one);
  return (
    <Dialog title={pid === undefined ? name : T.one(name, pid)} onLeave={onClose} isWide>
      {error !== undefined && <p class="problem">{error}</p>}
      {value === undefined && error === undefined && <p class="empty">{TEXTS.waiting}</p>}
      {one !== undefined && <One row={one} />}
      {one === undefined && pid === undefined && value !== undefined && <Many of={value} onOpen={open} />}
      <p class="buttons">
        {onEnd !== undefined && value !== undefined && error === undefined && mayEnd === true && (
          <button type="button" class="danger" onClick={() => onEnd(victimOf(one ?? value))}>
            {T.end}
          </button>
        )}
        <button type="button" class="primary" onClick={onClose}>
          {T.leave}
        </button>
      </p>
    </Dialog>
  );
}
