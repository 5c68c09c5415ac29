/** The panel of a machine that its hub cannot reach: since when and why, its last values, and Wake. */
import type { HostList, HostRow } from '../src/wire/hub.ts';
import { bytes, celsius, momentText, percent } from './format.ts';
import { sample } from './live.ts';
import { type Fact, Facts } from './parts/card.tsx';
import { usePolled } from './parts/poll.ts';
import { Wake } from './parts/wake.tsx';
import { HOST_ID } from './requests.ts';
import { TEXTS } from './texts.ts';
import { useValue } from './value.ts';
import { connection } from './visit.ts';

const T = {
  title: 'This machine is not there',
  since: (state: string, time: string) => `${state} since ${time}`,
  asOf: (time: string) => `Values as of ${time}`,
  facts: { load: 'Processor', temperature: 'Temperature', memory: 'Memory' },
  free: (share: string, free: string) => `${share}, ${free} free`,
} as const;

const EVERY_MS = 5000;
const PATH = `/api/hosts?host=${HOST_ID}&fields=cpu,memory,disks`;

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

function Lost() {
  const { value } = usePolled<HostList>(PATH, EVERY_MS, 'lost');
  const shown = useValue(sample);
  const row = value?.hosts.find(({ state }) => state !== 'up');
  if (row === undefined) return null;
  const { id, name, state, since, reason, last, wake_by: wakers = [] } = row;
  const asOf = shown?.timestamp ?? last?.as_of;
  return (
    <section class="card away" aria-label={T.title}>
      <p class="title">{T.since(TEXTS.states[state], momentText(since))}</p>
      {reason !== undefined && <p>{reason}</p>}
      {asOf !== undefined && <p class="note">{T.asOf(momentText(asOf))}</p>}
      {shown === undefined && last !== undefined && <Facts facts={factsOf(last)} />}
      <p>
        <Wake of={{ id, name, wakers }} kind="primary" />
      </p>
    </section>
  );
}

/** null on a page that is live, and where the hub is not there either. */
export function Away() {
  const isLost = useValue(connection) === 'lost';
  return HOST_ID !== undefined && isLost ? <Lost /> : null;
}
