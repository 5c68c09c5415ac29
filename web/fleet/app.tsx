/** The page of all machines: the head, the tools, and the machines as a table or as tiles. */
import { useEffect, useState } from 'preact/hooks';
import { access } from '../access.ts';
import { Notes } from '../parts/card.tsx';
import { Foot } from '../parts/foot.tsx';
import { KeyPrompt } from '../parts/key-prompt.tsx';
import { lock } from '../requests.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';
import { connection } from '../visit.ts';
import { type Choice, choiceOf, queryOf } from './choice.ts';
import { Compare } from './compare.tsx';
import { machines, turn } from './live.ts';
import { OpenEvents } from './open-events.tsx';
import { useOrder } from './parts.tsx';
import { STATES } from './read.ts';
import { Table } from './table.tsx';
import { T } from './texts.ts';
import { Tiles } from './tiles.tsx';
import { Tools } from './tools.tsx';

function useChoice(): readonly [Choice, (change: Partial<Choice>) => void] {
  const [choice, setChoice] = useState(() => choiceOf(new URLSearchParams(location.search)));
  const choose = (change: Partial<Choice>) => {
    const next = { ...choice, ...change };
    setChoice(next);
    const query = queryOf(next, new URLSearchParams(location.search));
    history.replaceState(null, '', `?${query}${location.hash}`);
  };
  return [choice, choose];
}

function Head() {
  useValue(turn);
  const state = useValue(connection);
  const { counts } = machines;
  const { down, refused, unknown } = counts;
  const lost = down + refused + unknown;
  const alarms = machines.alarms.filter(
    ({ id, mute }) => mute === undefined && machines.at(id)?.condition.state === 'up',
  );
  useEffect(() => {
    document.title = T.documentTitle(lost, alarms.length);
  }, [lost, alarms.length]);
  const notes = STATES.filter((each) => each === 'up' || counts[each] > 0).map((each) =>
    T.count(counts[each], each),
  );
  return (
    <header class="head">
      <div>
        <h1>{T.title}</h1>
        {machines.size > 0 && <Notes parts={notes} />}
      </div>
      <p class={`state ${state}`} role="status">
        {TEXTS.connection[state]}
      </p>
    </header>
  );
}

function List() {
  const [choice, choose] = useChoice();
  const { rows, holders } = useOrder(choice);
  const View = choice.view === 'table' ? Table : Tiles;
  if (choice.view === 'compare')
    return (
      <>
        <Tools choice={choice} onChoose={choose} />
        <Compare ids={choice.picked} />
      </>
    );
  return (
    <>
      <OpenEvents />
      <Tools choice={choice} onChoose={choose} />
      <p class="note" role="status">
        {rows.length === 0 ? T.none : T.shown(rows.length, machines.size)}
      </p>
      {rows.length > 0 && (
        <div {...holders}>
          <View rows={rows} choice={choice} onChoose={choose} />
        </div>
      )}
    </>
  );
}

function Content() {
  useValue(turn);
  const isLive = useValue(connection) === 'live';
  if (machines.size > 0) return <List />;
  return <p class="empty">{isLive ? T.empty : TEXTS.waiting}</p>;
}

export function App() {
  const state = useValue(connection);
  const known = useValue(access);
  const locked = useValue(lock);
  return (
    <>
      <a class="skip" href="#values">
        {T.skip}
      </a>
      <Head />
      <main id="values" tabIndex={-1} class={state === 'live' || state === 'limited' ? undefined : 'old'}>
        {state === 'refused' && <p class="empty problem">{TEXTS.refused}</p>}
        {state === 'limited' ? <p class="empty">{TEXTS.barred(known?.scopes ?? [])}</p> : <Content />}
      </main>
      <Foot />
      {locked !== undefined && <KeyPrompt why={locked} />}
    </>
  );
}
