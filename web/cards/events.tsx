/** Open events, whenever they began, then those of the shown time, the newest first, with the programs that ran then. */
import type { EventList, MachineEvent } from '../../src/wire/events.ts';
import type { HistoryEvent, ProcessUses } from '../../src/wire/history.ts';
import { useMay } from '../access.ts';
import { ALARMS_PATH } from '../alarms.ts';
import { momentText } from '../format.ts';
import { Card, Folded } from '../parts/card.tsx';
import { Muting } from '../parts/muting.tsx';
import { usePolled } from '../parts/poll.ts';
import { Uses } from '../parts/uses.tsx';
import { drawn, notes, shown } from '../past.ts';
import { HOST_ID } from '../requests.ts';
import { useValue } from '../value.ts';

const T = {
  title: 'Events',
  at: (time: string, text: string) => `${time} ${text}`,
  since: (time: string, text: string) => `Since ${time}: ${text}`,
  more: (count: number) => `${count} earlier`,
} as const;
const MAX_SHOWN = 10;
const MAX_MORE = 200;
const EVERY_MS = 10_000;

function Words({ text, processes }: { readonly text: string; readonly processes?: ProcessUses | null }) {
  const may = useMay();
  if (!processes || !may('processes')) return <span>{text}</span>;
  return (
    <details>
      <summary>{text}</summary>
      <Uses of={processes} />
    </details>
  );
}

/** The name that a mute has: of the rule, or of what else it is about. */
const nameOf = ({ subject }: MachineEvent) => subject.split(' ', 1)[0] ?? '';

/** None on a hub, which mutes its messages on its own page. */
const choicesOf = (event: MachineEvent) => (HOST_ID === undefined ? ([[nameOf(event), '']] as const) : []);

/** null without events. */
export function EventsCard() {
  const { value, refresh } = usePolled<EventList>(ALARMS_PATH, EVERY_MS);
  const { events } = useValue(notes);
  useValue(drawn);
  const { times, range } = shown();
  const { open = [], mutes = [] } = value ?? {};
  const isOpen = ({ at, rule, series }: HistoryEvent) =>
    open.some(({ begin, subject }) => begin === at && subject === `${rule} ${series}`.trim());
  const [start, end] = [times[0] ?? 0, (times.at(-1) ?? 0) + range.step];
  const past = events
    .filter((event) => event.at >= start && event.at < end && !isOpen(event))
    .reverse()
    .map(({ at, rule, state, text, processes }) => (
      <li key={`${at} ${rule} ${state} ${text}`} class="event">
        <Words text={T.at(momentText(at), text)} processes={processes ?? null} />
      </li>
    ));
  if (past.length + open.length === 0) return null;
  return (
    <Card title={T.title}>
      <ul class="rows">
        {open.map((event) => (
          <li key={event.id} class="event open">
            <Words text={T.since(momentText(event.begin), event.text)} processes={event.processes ?? null} />
            <Muting
              text={event.text}
              choices={choicesOf(event)}
              mute={mutes.find(({ what }) => what === nameOf(event))}
              onMuted={refresh}
            />
          </li>
        ))}
        {past.slice(0, MAX_SHOWN)}
      </ul>
      {past.length > MAX_SHOWN && (
        <Folded label={T.more(past.length - MAX_SHOWN)}>{past.slice(MAX_SHOWN, MAX_MORE)}</Folded>
      )}
    </Card>
  );
}
