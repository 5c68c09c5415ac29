/** Asks for confirmation before a process is ended, and before it is forced when it did not end. */
import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.tsx';
import { NoticeLine, useActs } from '../../parts/notice.tsx';
import { post } from '../../requests.ts';
import { TEXTS } from '../../texts.ts';
import type { Row } from './listing.ts';

const T = TEXTS.processes;

export interface Victim {
  readonly what: string;
  /** The body of POST /api/processes/kill. */
  readonly body: { readonly pid: number; readonly started_at: number } | { readonly name: string };
}

/** One process, or all of a name. */
export const victimOf = (row: Row): Victim =>
  'started_at' in row
    ? { what: T.one(row.name, row.pid), body: { pid: row.pid, started_at: row.started_at } }
    : { what: T.group(row.name, 'count' in row ? row.count : 1), body: { name: row.name } };

export function EndDialog({ victim, onDone }: { readonly victim: Victim; readonly onDone: () => void }) {
  const [isRefused, refuse] = useState(false);
  const acts = useActs();
  const end = async () => {
    const signal = isRefused ? 'kill' : 'term';
    const hasEnded = await acts.run(async () => {
      await post('/api/processes/kill', { ...victim.body, signal });
      return undefined;
    });
    if (hasEnded) onDone();
    else refuse(true);
  };
  return (
    <Dialog title={T.confirm(victim.what)} onLeave={onDone}>
      <p>{isRefused ? T.explainForce : T.explain}</p>
      <NoticeLine of={acts} />
      <p class="buttons">
        <button type="button" onClick={onDone}>
          {T.keep}
        </button>
        <button type="button" class="danger" disabled={acts.isBusy} onClick={end}>
          {isRefused ? T.force : T.end}
        </button>
      </p>
    </Dialog>
  );
}
