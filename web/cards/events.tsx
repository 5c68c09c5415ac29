/** Open events, whenever they began, then those of the shown time, the newest first, with the programs that ran then. */
import { useState } from 'preact/hooks';
import type { EventList, MachineEvent, Mute } from '../../src/wire/events.ts';
import type { HistoryEvent, ProcessUses } from '../../src/wire/history.ts';
import { useMay } from '../access.ts';
import { ALARMS_PATH } from '../alarms.ts';
import { momentText } from '../format.ts';
import { Card, Folded } from '../parts/card.tsx';
import { NoticeLine, useActs } from '../parts/notice.tsx';
import { usePolled } from '../parts/poll.ts';
import { Uses } from '../parts/uses.tsx';
import { drawn, notes, shown } from '../past.ts';
import { HOST_ID, post } from '../requests.ts';
import { useValue } from '../value.ts';

const T = {
  title: 'Events',
  at: (time: string, text: string) => `${time} ${text}`,
  since: (time: string, text: string) => `Since ${time}: ${text}`,
  mute: 'Mute',
  muteWhat: (text: string) => `Mute: ${text}`,
  unmute: 'Unmute',
  muted: (until: string, reason: string) =>
    `Muted until ${until}${reason === '' ? '' : `: ${reason}`}. It is not sent to anybody.`,
  time: 'For',
  reason: 'Reason',
  more: (count: number) => `${count} earlier`,
} as const;
const TIMES: readonly (readonly [label: string, seconds: number])[] = [
  ['1 hour', 3600],
  ['8 hours', 28_800],
  ['1 day', 86_400],
  ['7 days', 604_800],
];
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

function OpenEvent({
  event,
  mute,
  onMuted,
}: {
  readonly event: MachineEvent;
  readonly mute: Mute | undefined;
  readonly onMuted: () => void;
}) {
  const [isAsking, ask] = useState(false);
  const acts = useActs();
  const may = useMay();
  const send = (seconds: number, reason = '') =>
    acts.run(async () => {
      await post('/api/events/mute', { what: nameOf(event), seconds, reason });
      ask(false);
      onMuted();
      return undefined;
    });
  const submit = (submitted: SubmitEvent) => {
    submitted.preventDefault();
    if (!(submitted.currentTarget instanceof HTMLFormElement)) return;
    const data = new FormData(submitted.currentTarget);
    void send(Number(data.get('seconds')), String(data.get('reason')));
  };
  const words = T.since(momentText(event.begin), event.text);
  return (
    <li class="event open">
      <Words text={words} processes={event.processes ?? null} />
      {mute !== undefined && <p class="note">{T.muted(momentText(mute.until, 60), mute.reason)}</p>}
      {/* A hub has no mutes of its machines. */}
      {may('admin') && HOST_ID === undefined && !isAsking && (
        <span>
          <button
            type="button"
            class="quiet"
            aria-label={mute === undefined ? T.muteWhat(event.text) : undefined}
            disabled={acts.isBusy}
            onClick={() => (mute === undefined ? ask(true) : void send(0))}
          >
            {mute === undefined ? T.mute : T.unmute}
          </button>
        </span>
      )}
      {isAsking && (
        <form onSubmit={submit}>
          <select name="seconds" aria-label={T.time}>
            {TIMES.map(([label, seconds]) => (
              <option key={label} value={seconds}>
                {label}
              </option>
            ))}
          </select>
          <input type="text" name="reason" maxLength={200} aria-label={T.reason} placeholder={T.reason} />
          <button type="submit" class="quiet" disabled={acts.isBusy}>
            {T.mute}
          </button>
        </form>
      )}
      <NoticeLine of={acts} />
    </li>
  );
}

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
          <OpenEvent
            key={event.id}
            event={event}
            mute={mutes.find(({ what }) => what === nameOf(event))}
            onMuted={refresh}
          />
        ))}
        {past.slice(0, MAX_SHOWN)}
      </ul>
      {past.length > MAX_SHOWN && (
        <Folded label={T.more(past.length - MAX_SHOWN)}>{past.slice(MAX_SHOWN, MAX_MORE)}</Folded>
      )}
    </Card>
  );
}
