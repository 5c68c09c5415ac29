/** The page as a whole: head, cards in the order of interest, and what is not there. */
import { useEffect } from 'preact/hooks';
import { AbsentCard } from './cards/absent.tsx';
import { BatteryCard } from './cards/batteries.tsx';
import { CpuCard } from './cards/cpu.tsx';
import { DiskCard } from './cards/disks.tsx';
import { GpuCards } from './cards/gpu.tsx';
import { MediaCard } from './cards/media.tsx';
import { MemoryCard } from './cards/memory.tsx';
import { NetworkCard } from './cards/network.tsx';
import { PowerCard } from './cards/power.tsx';
import { ProcessCard } from './cards/processes.tsx';
import { SensorCard } from './cards/sensors.tsx';
import { duration } from './format.ts';
import { connection, hostName, sample, system } from './live.ts';
import { KeyPrompt } from './parts/key-prompt.tsx';
import { lock } from './requests.ts';
import type { Sample } from './sample.ts';
import { TEXTS } from './texts.ts';
import { useValue } from './value.ts';

function Head() {
  const state = useValue(connection);
  const now = useValue(sample);
  const about = useValue(system);
  const host = hostName();
  useEffect(() => {
    if (host !== '') document.title = `${host} · hostwire`;
  }, [host]);
  const notes = [
    about && `${about.os.name} ${about.os.version}`.trim(),
    now && TEXTS.uptime(duration(now.uptime)),
  ];
  return (
    <header class="head">
      <div>
        <h1>{host === '' ? 'hostwire' : host}</h1>
        <p class="note">{notes.filter((note) => note !== undefined).join(' · ')}</p>
      </div>
      <p class={`state ${state}`} role="status">
        {TEXTS.connection[state]}
      </p>
    </header>
  );
}

function Cards({ now }: { readonly now: Sample }) {
  const about = useValue(system);
  const can = about?.capabilities;
  return (
    <div class="cards">
      {now.cpu && <CpuCard cpu={now.cpu} />}
      {now.memory && <MemoryCard memory={now.memory} />}
      {now.network && <NetworkCard network={now.network} />}
      {now.disks && <DiskCard disks={now.disks} />}
      {now.gpu && <GpuCards devices={now.gpu.devices} />}
      {now.sensors.length > 0 && <SensorCard sensors={now.sensors} />}
      {now.batteries.length > 0 && <BatteryCard batteries={now.batteries} />}
      {can?.media.enabled === true && can.media.supported && <MediaCard />}
      {can !== undefined && <PowerCard />}
      {can?.processes.list.enabled === true && can.processes.list.supported && (
        <ProcessCard
          summary={now.processes}
          mayEnd={can.processes.control.enabled && can.processes.control.supported}
        />
      )}
      {about !== undefined && <AbsentCard sample={now} system={about} />}
    </div>
  );
}

function Foot() {
  const version = useValue(system)?.service?.version;
  return <footer class="note">{version !== undefined && TEXTS.about(version)}</footer>;
}

export function App() {
  const now = useValue(sample);
  const state = useValue(connection);
  const locked = useValue(lock);
  return (
    <>
      <a class="skip" href="#values">
        {TEXTS.skip}
      </a>
      <Head />
      <main id="values" tabIndex={-1} class={state === 'live' ? undefined : 'old'}>
        {state === 'refused' && <p class="empty problem">{TEXTS.refused}</p>}
        {now === undefined ? <p class="empty">{TEXTS.waiting}</p> : <Cards now={now} />}
      </main>
      <Foot />
      {locked !== undefined && <KeyPrompt isWrong={locked.isWrong} />}
    </>
  );
}
