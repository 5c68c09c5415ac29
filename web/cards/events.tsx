/** Events of the service's watch rules in the last hour, the newest first, with the programs that ran then. */
import type { HistoryEvent } from '../../src/wire/history.ts';
import { useMay } from '../access.ts';
import { timeOfDay } from '../format.ts';
import { Card } from '../parts/card.tsx';
import { Uses } from '../parts/uses.tsx';
import { notes } from '../past.ts';
import { useValue } from '../value.ts';

const T = {
  title: 'Events',
  at: (time: string, text: string) => `${time} ${text}`,
} as const;
const MAX_SHOWN = 10;

function EventRow({ event: { at, text, processes } }: { readonly event: HistoryEvent }) {
  const words = T.at(timeOfDay(at), text);
  const may = useMay();
  return (
    <li class="event">
      {processes && may('processes') ? (
        <details>
          <summary>{words}</summary>
          <Uses of={processes} />
        </details>
      ) : (
        words
      )}
    </li>
  );
}

/** null without events. */
export function EventsCard() {
  const { events } = useValue(notes);
  if (events.length === 0) return null;
  return (
    <Card title={T.title}>
      <ul class="rows">
        {events
          .slice(-MAX_SHOWN)
          .reverse()
          .map((event) => (
            <EventRow key={`${event.at} ${event.rule} ${event.state}`} event={event} />
          ))}
      </ul>
    </Card>
  );
}
