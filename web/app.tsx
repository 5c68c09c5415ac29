/** The page as a whole: the head, the cards, and a card of unavailable features. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { access } from './access.ts';
import { arrangement, forgetOrder, isArranging, move } from './arrangement.ts';
import { Away } from './away.tsx';
import { AbsentCard } from './cards/absent.tsx';
import { EventsCard } from './cards/events.tsx';
import { CARDS } from './cards/table.ts';
import { arrange, columns } from './columns.ts';
import { duration } from './format.ts';
import { sample, system } from './live.ts';
import { CardPlace, cardId, Notes } from './parts/card.tsx';
import { Foot } from './parts/foot.tsx';
import { KeyPrompt } from './parts/key-prompt.tsx';
import { RangeSwitch } from './parts/range-switch.tsx';
import { Strip } from './parts/strip.tsx';
import { inOrder } from './placing.ts';
import { HOST_ID, lock, SERVICE_URL, sentenceOf } from './requests.ts';
import type { Sample } from './sample.ts';
import { TEXTS } from './texts.ts';
import { useValue } from './value.ts';
import { connection, failure } from './visit.ts';

function Head() {
  const now = useValue(sample);
  const about = useValue(system);
  const notes = [
    about && `${about.os.name} ${about.os.version}`.trim(),
    now && TEXTS.uptime(duration(now.uptime)),
  ];
  return (
    <div class="head">
      <div>
        {HOST_ID !== undefined && <a href={SERVICE_URL}>{TEXTS.fleet}</a>}
        <Notes parts={notes} />
      </div>
      <RangeSwitch />
    </div>
  );
}

/** In order of reading; on a phone the cards that a thumb must reach come first. */
const ORDER = [
  'cpu',
  'memory',
  'power',
  'network',
  'gpu',
  'media',
  'disks',
  'sensors',
  'batteries',
  'drives',
];
const PHONE_ORDER = ['media', 'power'];

/** A card without anything to show is not on the page. */
const isShown = (key: string) => document.getElementById(cardId(key)) !== null;

/** Cards in columns, in the user's order. */
function Grid({ cards }: { readonly cards: Readonly<Record<string, JSX.Element>> }) {
  const grid = useRef<HTMLDivElement>(null);
  const { order } = useValue(arrangement);
  const isPhone = useValue(columns) === 1;
  useEffect(() => (grid.current === null ? undefined : arrange(grid.current)), []);
  const own = inOrder(Object.keys(cards), isPhone ? PHONE_ORDER : ORDER);
  const keys = order.length === 0 ? own : inOrder(own, order);
  return (
    <div class="cards" ref={grid}>
      {keys.map((key) => (
        <CardPlace.Provider key={key} value={{ key, onMove: (by) => move(keys.filter(isShown), key, by) }}>
          {cards[key]}
        </CardPlace.Provider>
      ))}
    </div>
  );
}

function Cards({ now }: { readonly now: Sample }) {
  const about = useValue(system);
  const cards = Object.entries(CARDS).map(([key, { Card }]) => [key, <Card sample={now} system={about} />]);
  return (
    <Grid
      cards={{
        ...Object.fromEntries(cards),
        events: <EventsCard />,
        ...(about !== undefined && { absent: <AbsentCard sample={now} system={about} /> }),
      }}
    />
  );
}

/** The cards of a key without `read`: what it may do, without the present values. */
function Acts() {
  const known = useValue(access);
  return (
    <>
      <p class="empty">{TEXTS.barred(known?.scopes ?? [])}</p>
      <Grid
        cards={Object.fromEntries(
          Object.entries(CARDS).flatMap(([key, { Acts: Card }]) => (Card ? [[key, <Card />]] : [])),
        )}
      />
    </>
  );
}

function About() {
  const version = useValue(system)?.service?.version;
  const isMovable = useValue(isArranging);
  const { order } = useValue(arrangement);
  return (
    <>
      {version !== undefined && TEXTS.about(version)}{' '}
      <button type="button" class="quiet" onClick={() => isArranging.set(!isMovable)}>
        {isMovable ? TEXTS.cards.done : TEXTS.cards.arrange}
      </button>
      {order.length > 0 && (
        <button type="button" class="quiet" onClick={forgetOrder}>
          {TEXTS.cards.reset}
        </button>
      )}
    </>
  );
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
      <Strip />
      <main id="values" tabIndex={-1}>
        <Head />
        <Away />
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
