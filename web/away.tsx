/** The panel of a machine that its hub cannot reach: since when and why, its last values, and Wake. */
import { useEffect, useState } from 'preact/hooks';
import type { HostList, HostRow } from '../src/wire/hub.ts';
import { useMay } from './access.ts';
import { bytes, celsius, momentText, percent } from './format.ts';
import { sample } from './live.ts';
import { type Fact, Facts } from './parts/card.tsx';
import { NoticeLine, useActs } from './parts/notice.tsx';
import { getJson, HOST_ID, post } from './requests.ts';
import { useValue } from './value.ts';
import { connection } from './visit.ts';

const T = {
  title: 'This machine is not there',
  states: { asleep: 'Asleep', off: 'Off', down: 'Down', refused: 'Refused', unknown: 'Never reached' },
  since: (state: string, time: string) => `${state} since ${time}`,
  asOf: (time: string) => `Values as of ${time}`,
  wake: 'Wake',
  wakeBy: (id: string) => `${id} can wake it`,
  woken: 'The packets were sent; it may take a minute to come up.',
  facts: { load: 'Processor', temperature: 'Temperature', memory: 'Memory' },
  free: (share: string, free: string) => `${share}, ${free} free`,
} as const;

const EVERY_MS = 5000;

async function readRow(id: string, signal: AbortSignal): Promise<HostRow | undefined> {
  const query = new URLSearchParams({ host: id, fields: 'cpu,memory,disks' });
  const { hosts } = await getJson<HostList>(`/api/hosts?${query}`, signal);
  return hosts.find((row) => row.state !== 'up');
}

/** The row of a machine that is not there; undefined on a page that is live, and where the hub is not there either. */
function useRow(): HostRow | undefined {
  const [row, show] = useState<HostRow>();
  const isLost = useValue(connection) === 'lost';
  useEffect(() => {
    if (HOST_ID === undefined || !isLost) return undefined;
    const id = HOST_ID;
    const ended = new AbortController();
    const look = () =>
      readRow(id, ended.signal).then(
        (next) => !ended.signal.aborted && show(next),
        () => !ended.signal.aborted && show(undefined),
      );
    void look();
    const timer = setInterval(look, EVERY_MS);
    return () => {
      ended.abort();
      clearInterval(timer);
      show(undefined);
    };
  }, [isLost]);
  return row;
}

function factsOf({ cpu, memory, disks }: NonNullable<HostRow['last']>): readonly Fact[] {
  return [
    ...(cpu ? ([[T.facts.load, percent(cpu.current_load)]] as const) : []),
    // A sample without detail has 0 for an unreadable temperature.
    ...(cpu?.current_temp ? ([[T.facts.temperature, celsius(cpu.current_temp)]] as const) : []),
    ...(memory ? ([[T.facts.memory, percent(memory.used_percent)]] as const) : []),
    ...(disks ?? []).map(
      (disk): Fact => [disk.fs, T.free(percent(disk.used_percent), bytes(disk.available))],
    ),
  ];
}

export function Away() {
  const may = useMay();
  const row = useRow();
  const shown = useValue(sample);
  const acts = useActs();
  if (row === undefined || row.state === 'up') return null;
  const { state, since, reason, last } = row;
  const [waker] = row.wake_by ?? [];
  const asOf = shown?.timestamp ?? last?.as_of;
  return (
    <section class="card away" aria-label={T.title}>
      <p class="title">{T.since(T.states[state], momentText(since))}</p>
      {reason !== undefined && <p>{reason}</p>}
      {asOf !== undefined && <p class="note">{T.asOf(momentText(asOf))}</p>}
      {shown === undefined && last !== undefined && <Facts facts={factsOf(last)} />}
      {waker !== undefined && may('wake') && (
        <p>
          <button
            type="button"
            class="primary"
            disabled={acts.isBusy}
            title={T.wakeBy(waker)}
            onClick={() =>
              void acts.run(async () => {
                await post('/api/wake', {});
                return T.woken;
              })
            }
          >
            {T.wake}
          </button>
        </p>
      )}
      <NoticeLine notice={acts.notice} onClear={acts.clear} />
    </section>
  );
}
