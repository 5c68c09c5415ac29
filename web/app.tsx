/** The page as a whole: the head, the cards, and a card of unavailable features. */
import { useEffect } from 'preact/hooks';
import { access } from './access.ts';
import { AbsentCard } from './cards/absent.tsx';
import { EventsCard } from './cards/events.tsx';
import { CARDS } from './cards/table.ts';
import { duration } from './format.ts';
import { hostName, sample, system } from './live.ts';
import { Notes } from './parts/card.tsx';
import { Foot } from './parts/foot.tsx';
import { KeyPrompt } from './parts/key-prompt.tsx';
import { RangeSwitch } from './parts/range-switch.tsx';
import { HOST_ID, lock, SERVICE_URL, sentenceOf } from './requests.ts';
import type { Sample } from './sample.ts';
import { TEXTS } from './texts.ts';
import { useValue } from './value.ts';
import { connection, failure } from './visit.ts';

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
        {HOST_ID !== undefined && <a href={SERVICE_URL}>{TEXTS.fleet}</a>}
        <h1>{host === '' ? 'hostwire' : host}</h1>
        <Notes parts={notes.filter((note) => note !== undefined)} />
      </div>
      <p class={`state ${state}`} role="status">
        {TEXTS.connection[state]}
      </p>
      <RangeSwitch />
    </header>
  );
}

function Cards({ now }: { readonly now: Sample }) {
  const about = useValue(system);
  return (
    <div class="cards">
      {Object.entries(CARDS).map(([key, { Card }]) => (
        <Card key={key} sample={now} system={about} />
      ))}
      <EventsCard />
      {about !== undefined && <AbsentCard sample={now} system={about} />}
    </div>
  );
}

/** The cards of a key without `read`: what it may do, without the present values. */
function Acts() {
  const known = useValue(access);
  return (
    <>
      <p class="empty">{TEXTS.barred(known?.scopes ?? [])}</p>
      <div class="cards">
        {Object.entries(CARDS).map(([key, { Acts: Card }]) => Card && <Card key={key} />)}
      </div>
    </>
  );
}

function About() {
  const version = useValue(system)?.service?.version;
  return <>{version !== undefined && TEXTS.about(version)}</>;
}

export function App() {
  const now = useValue(sample);
  const state = useValue(connection);
  const locked = useValue(lock);
  const failed = useValue(failure);
  return (
    <>
      <a class="skip" href="#values">
        {TEXTS.skip}
      </a>
      <Head />
      <main id="values" tabIndex={-1} class={state === 'live' || state === 'limited' ? undefined : 'old'}>
        {state === 'refused' && <p class="empty problem">{TEXTS.refused}</p>}
        {state === 'limited' ? (
          <Acts />
        ) : now === undefined ? (
          <p class="empty">{failed === undefined || state === 'live' ? TEXTS.waiting : sentenceOf(failed)}</p>
        ) : (
          <Cards now={now} />
        )}
      </main>
      <Foot>
        <About />
      </Foot>
      {locked !== undefined && <KeyPrompt why={locked} />}
    </>
  );
}
