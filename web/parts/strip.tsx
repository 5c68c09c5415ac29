/** The verdict at the top: name, state, what is open, the figures that decide, and what is played. Each leads to its card. */
import { useEffect, useState } from 'preact/hooks';
import type { EventList, MachineEvent } from '../../src/wire/events.ts';
import type { HistoryPayload } from '../../src/wire/history.ts';
import type { HostState } from '../../src/wire/hub.ts';
import type { MediaDetail } from '../../src/wire/media.ts';
import { useMay } from '../access.ts';
import { ALARMS_PATH, alarmsIn, cardOf } from '../alarms.ts';
import { daysLeft, daysLeftIn, TREND_PATH } from '../cards/disk-rows.ts';
import { figuresOf } from '../figures.ts';
import { duration, momentText, timeOfDay } from '../format.ts';
import { hostName, sample, serviceNow, system } from '../live.ts';
import { hasHistory } from '../past.ts';
import { HOST_ID, post } from '../requests.ts';
import { isSeen, see, seen } from '../seen.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';
import { connection, failure } from '../visit.ts';
import { cardId, Mark } from './card.tsx';
import { Glyph } from './glyph.tsx';
import { type Level, levelOf } from './level.ts';
import { usePolled } from './poll.ts';

const T = TEXTS.strip;
const EVENTS_EVERY_MS = 10_000;
/** The service looks for trends every hour. */
const TREND_EVERY_MS = 600_000;
const MEDIA_EVERY_MS = 2000;
/** Time that a player takes to act. */
const CHANGE_MS = 300;

const levelIn = ({ severity }: MachineEvent): Level => (severity === 'critical' ? 'high' : 'raised');

/** Shows the card without changing the address, which has the chosen time. */
function leadTo(event: Event, card: string): void {
  event.preventDefault();
  const target = document.getElementById(cardId(card)) ?? document.getElementById('values');
  target?.scrollIntoView();
  target?.querySelector<HTMLElement>('.fold')?.focus({ preventScroll: true });
}

const leading = (card: string) => ({
  href: `#${cardId(card)}`,
  onClick: (event: Event) => leadTo(event, card),
});

/** The title and the icon of the tab carry the number of open events. */
function useTab(name: string, alarms: readonly MachineEvent[]): void {
  const count = alarms.length;
  const isCritical = alarms[0]?.severity === 'critical';
  useEffect(() => {
    const title = name === '' ? T.title : `${name} · ${T.title}`;
    document.title = count === 0 ? title : `(${count}) ${title}`;
  }, [name, count]);
  useEffect(() => {
    if (count === 0) return undefined;
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    const own = icon?.href ?? '';
    const badge = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${isCritical ? '#b42318' : '#b45309'}"/><text x="16" y="24" font-family="sans-serif" font-size="22" font-weight="700" text-anchor="middle" fill="#fff">${Math.min(count, 9)}</text></svg>`;
    if (icon !== null) icon.href = `data:image/svg+xml,${encodeURIComponent(badge)}`;
    return () => {
      if (icon !== null) icon.href = own;
    };
  }, [count, isCritical]);
}

function State() {
  const state = useValue(connection);
  const last = useValue(sample);
  const failed = useValue(failure);
  const details = failed?.details as { readonly state?: HostState } | undefined; // Of a hub's refusal.
  // The stream of a machine that went pauses without an error.
  const away = details?.state === undefined ? T.away : TEXTS.states[details.state];
  const isOld = state !== 'live' && state !== 'limited' && last !== undefined;
  return (
    <p class={`state ${state}`} role="status">
      {state === 'lost' && HOST_ID !== undefined ? away : TEXTS.connection[state]}
      {isOld && ` · ${T.asOf(timeOfDay(last.timestamp))}`}
    </p>
  );
}

function AlarmList({
  alarms,
  onSeen,
}: {
  readonly alarms: readonly MachineEvent[];
  readonly onSeen: () => void;
}) {
  return (
    <section class="alarms" aria-label={T.alarms}>
      <ul>
        {alarms.map((event) => (
          <li key={event.id}>
            <Mark level={levelIn(event)} />
            <a {...leading(cardOf(event))}>{event.text}</a>{' '}
            <span class="note">
              {T.since(momentText(event.begin, 60), duration(serviceNow() - event.begin))}
            </span>
          </li>
        ))}
      </ul>
      <button type="button" onClick={onSeen}>
        {T.seen}
      </button>
    </section>
  );
}

function Playing() {
  const may = useMay();
  const media = useValue(system)?.capabilities.media;
  const path = media?.enabled === true && media.supported ? '/api/media/status?detail=1' : undefined;
  const { value, refresh } = usePolled<MediaDetail>(path, MEDIA_EVERY_MS);
  if (value === undefined || value.status === 'stopped' || !value.title) return null;
  const action = value.playback === 'playing' ? 'pause' : 'play';
  const act = async () => {
    await post('/api/media/control', { action }).catch(() => undefined);
    setTimeout(refresh, CHANGE_MS);
  };
  return (
    <div class="figure playing">
      {may('media') && (
        <button type="button" class="round" aria-label={T.playing(T[action], value.title)} onClick={act}>
          <Glyph name={action} />
        </button>
      )}
      <a {...leading('media')}>
        <small class="cut">{value.artist ?? T.media}</small>
        <b class="cut">{value.title}</b>
      </a>
    </div>
  );
}

function useTrend(): ReadonlyMap<string, number> {
  const path = useValue(hasHistory) === true ? TREND_PATH : undefined;
  const { value } = usePolled<HistoryPayload>(path, TREND_EVERY_MS);
  useEffect(() => daysLeft.set(daysLeftIn(value ?? { series: {} })), [value]);
  return useValue(daysLeft);
}

export function Strip() {
  const now = useValue(sample);
  const may = useMay();
  useValue(system);
  useValue(seen);
  const [isOpen, open] = useState(false);
  const { value } = usePolled<EventList>(may('read') ? ALARMS_PATH : undefined, EVENTS_EVERY_MS);
  const alarms = value === undefined ? [] : alarmsIn(value);
  const [first] = alarms;
  const isNew = !alarms.every(isSeen);
  const name = hostName();
  useTab(name, alarms);
  const trend = useTrend();
  return (
    <>
      <header class="strip">
        <div class="who">
          <h1 class="cut" title={name}>
            {name === '' ? T.title : name}
          </h1>
          <State />
          {first !== undefined && (
            <button
              type="button"
              class={isNew ? `chip ${levelIn(first)}` : 'chip'}
              aria-expanded={isNew || isOpen}
              onClick={() => (isNew ? see(alarms) : open(!isOpen))}
            >
              <Mark level={levelIn(first)} />
              {T.open(alarms.length)}
            </button>
          )}
        </div>
        {now !== undefined && (
          <nav class="figures" aria-label={T.figures}>
            {figuresOf(now, trend).map(
              ({ card, label, value: text, title = label, share, level = levelOf(share ?? null) }) => (
                <a key={label} class="figure" title={title} {...leading(card)}>
                  <small class="cut">{label}</small>
                  <b class="cut">
                    <Mark level={level} />
                    {text}
                  </b>
                </a>
              ),
            )}
            <Playing />
          </nav>
        )}
      </header>
      {(isNew || isOpen) && alarms.length > 0 && (
        <AlarmList
          alarms={alarms}
          onSeen={() => {
            see(alarms);
            open(false);
          }}
        />
      )}
    </>
  );
}
