/** Power: each action is confirmed, now or for a later time, and any page can cancel it until then. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PowerPayload } from '../../src/wire/power.ts';
import { useMay } from '../access.ts';
import { duration, timeOfDay } from '../format.ts';
import { hostName, serviceNow } from '../live.ts';
import { Card } from '../parts/card.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { NoticeLine, useActs } from '../parts/notice.tsx';
import { usePolled } from '../parts/poll.ts';
import { useReason } from '../reasons.ts';
import { post } from '../requests.ts';
import { type CardRow, whyNot } from './row.ts';

const T = {
  title: 'Power',
  actions: {
    lock: 'Lock',
    sleep: 'Sleep',
    hibernate: 'Hibernate',
    restart: 'Restart',
    shutdown: 'Shut down',
  },
  confirm: (action: string, host: string) => `${action} ${host}?`,
  explain: (seconds: number, isCancellable: boolean) =>
    `This happens in ${seconds} seconds or at the time that you choose${isCancellable ? ' and can be cancelled until then' : ''}.`,
  later: [
    [1800, 'In 30 minutes'],
    [3600, 'In 1 hour'],
  ],
  at: 'Time',
  atTime: 'At this time',
  keep: 'Cancel',
  soon: (action: string, seconds: number) => `${action} in ${seconds} s`,
  pending: (action: string, at: string, left: string) => `${action} at ${at}, in ${left}`,
  underWay: {
    lock: 'Locking',
    sleep: 'Sleeping',
    hibernate: 'Hibernating',
    restart: 'Restarting',
    shutdown: 'Shutting down',
  },
  asked: (action: string, isCancellable: boolean) =>
    `${action} is scheduled${isCancellable ? ' and can be cancelled' : ''}.`,
  cancel: 'Cancel it',
  cancelled: (action: string) => `${action} was cancelled.`,
  trial: 'Test mode: actions are recorded, not carried out (power.backend is “record” in the configuration).',
  recorded: (action: string, time: string) => `${action} was recorded at ${time}.`,
  heldUp: (who: string, why: string) => `${who} blocks this: ${why}`,
} as const;

const ACTIONS = ['lock', 'sleep', 'hibernate', 'restart', 'shutdown'] as const;
type Action = (typeof ACTIONS)[number];

const EVERY_MS = 10_000;
/** Time to read the text and to cancel. */
const DELAY_SECONDS = 10;
/** The last seconds are counted. */
const COUNTED_SECONDS = 120;
const DAY_SECONDS = 86_400;

/** Returns the seconds until this device's clock next shows `time`, `HH:MM`; undefined: not a time. */
function secondsUntil(time: string): number | undefined {
  const due = new Date();
  due.setHours(Number(time.slice(0, 2)), Number(time.slice(3)), 0, 0);
  const seconds = Math.ceil((due.getTime() - Date.now()) / 1000);
  if (time === '' || Number.isNaN(seconds)) return undefined;
  return seconds > 0 ? seconds : seconds + DAY_SECONDS;
}

/** An action that this page does not know, of another version of the service, is shown by its name. */
const labelOf = (labels: Readonly<Record<Action, string>>, action: string): string =>
  action in labels ? labels[action as Action] : action;

const powerLabel = (action: string): string => labelOf(T.actions, action);

interface CountdownProps {
  readonly pending: NonNullable<PowerPayload['pending']>;
  /** The action was requested on this page, so its cancel button gets the focus. */
  readonly isOwn: boolean;
  /** undefined: this page may not cancel it. */
  readonly onCancel: (() => void) | undefined;
  readonly onDue: () => void;
}

function dueText(action: string, left: number): string {
  if (left < COUNTED_SECONDS) return T.soon(action, Math.max(0, Math.ceil(left)));
  // By the clock of this device.
  return T.pending(action, timeOfDay(Date.now() / 1000 + left).slice(0, -3), duration(left));
}

function Countdown({ pending, isOwn, onCancel, onDue }: CountdownProps) {
  const { action, at } = pending;
  const [left, setLeft] = useState(at - serviceNow());
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isOwn) button.current?.focus();
    const timer = setInterval(() => {
      setLeft(at - serviceNow());
      if (serviceNow() > at + 1) onDue();
    }, 500);
    return () => clearInterval(timer);
  }, [at]);
  return (
    <div class="countdown">
      <p role="alert" class="unseen">
        {T.asked(powerLabel(action), onCancel !== undefined)}
      </p>
      <p role="timer">{dueText(labelOf(T.underWay, action), left)}</p>
      {onCancel !== undefined && (
        <button type="button" class="primary" ref={button} onClick={onCancel}>
          {T.cancel}
        </button>
      )}
    </div>
  );
}

function Confirm({
  action,
  status,
  onGo,
  onLeave,
}: {
  readonly action: Action;
  readonly status: PowerPayload;
  readonly onGo: (delaySeconds: number) => void;
  readonly onLeave: () => void;
}) {
  const [time, setTime] = useState('');
  const untilTime = secondsUntil(time);
  const isCancellable = useMay()('power.cancel');
  const what = action === 'sleep' || action === 'hibernate' ? 'sleep' : 'shutdown';
  const holding = status.inhibitors.filter((held) => held.what.split(':').includes(what));
  return (
    <Dialog title={T.confirm(T.actions[action], hostName() || location.hostname)} onLeave={onLeave}>
      <p>{isTrial(status) ? T.trial : T.explain(DELAY_SECONDS, isCancellable)}</p>
      {holding.map((held) => (
        <p class="problem" key={`${held.who} ${held.why}`}>
          {T.heldUp(held.who, held.why)}
        </p>
      ))}
      <p class="acts later">
        {T.later.map(([seconds, label]) => (
          <button type="button" key={seconds} onClick={() => onGo(seconds)}>
            {label}
          </button>
        ))}
        <input
          type="time"
          aria-label={T.at}
          value={time}
          onInput={({ currentTarget }) => setTime(currentTarget.value)}
        />
        <button
          type="button"
          disabled={untilTime === undefined}
          onClick={() => onGo(untilTime ?? DAY_SECONDS)}
        >
          {T.atTime}
        </button>
      </p>
      <p class="buttons">
        <button type="button" onClick={onLeave}>
          {T.keep}
        </button>
        <button type="button" class="danger" onClick={() => onGo(DELAY_SECONDS)}>
          {T.actions[action]}
        </button>
      </p>
    </Dialog>
  );
}

/** An action that is only partly supported has a reason too. */
const isTrial = ({ actions, recorded }: PowerPayload) =>
  recorded.length > 0 || Object.values(actions).some(({ supported, reason }) => supported && reason !== null);

const CAN = { enabled: true, supported: true, reason: null } as const;
/** In place of the status for a page that may not read it: the service answers what it does not do. */
const UNREAD: PowerPayload = {
  actions: { lock: CAN, sleep: CAN, hibernate: CAN, restart: CAN, shutdown: CAN },
  pending: null,
  inhibitors: [],
  recorded: [],
};

function PowerCard() {
  const may = useMay();
  const path = may('read') ? '/api/pw' : undefined;
  const { value, error, refresh } = usePolled<PowerPayload>(path, EVERY_MS);
  const [started, setStarted] = useState<PowerPayload['pending']>(null);
  const status = path === undefined ? { ...UNREAD, pending: started } : value;
  const [asked, ask] = useState<Action>();
  const acts = useActs();
  const isOwn = useRef(false);
  useReason(T.title, status === undefined ? error : undefined);
  if (status === undefined) return null;
  const possible = ACTIONS.filter((action) => {
    const can = status.actions[action];
    return can?.enabled === true && can.supported && may(`power.${action}`);
  });
  /** `delay` in seconds; 0: immediately. */
  const start = (action: Action, delay: number) =>
    void acts.run(async () => {
      ask(undefined);
      await post(`/api/pw/${action}${delay === 0 ? '' : `?delay=${delay}`}`);
      if (delay > 0) setStarted({ action, at: serviceNow() + delay });
      isOwn.current = true;
      refresh();
      return undefined;
    });
  const cancel = (action: string) =>
    void acts.run(async () => {
      await post('/api/pw/cancel');
      setStarted(null);
      isOwn.current = false;
      refresh();
      return T.cancelled(powerLabel(action));
    });
  const { pending, recorded } = status;
  const last = recorded.at(-1);
  if (possible.length === 0 && pending === null) return null;
  return (
    <Card title={T.title}>
      {pending !== null && (
        <Countdown
          pending={pending}
          isOwn={isOwn.current}
          onCancel={may('power.cancel') ? () => cancel(pending.action) : undefined}
          onDue={() => {
            setStarted(null);
            refresh();
          }}
        />
      )}
      <div class="acts">
        {possible.map((action) => (
          <button
            type="button"
            key={action}
            disabled={acts.isBusy || pending !== null}
            onClick={() => (action === 'lock' ? start(action, 0) : ask(action))}
          >
            {T.actions[action]}
          </button>
        ))}
      </div>
      {isTrial(status) && (
        <p class="note">
          {T.trial}{' '}
          {last && T.recorded(powerLabel(last.action), new Date(last.at * 1000).toLocaleTimeString('en-GB'))}
        </p>
      )}
      <NoticeLine of={acts} />
      {asked !== undefined && (
        <Confirm
          action={asked}
          status={status}
          onGo={(delay) => start(asked, delay)}
          onLeave={() => ask(undefined)}
        />
      )}
    </Card>
  );
}

/** The flag that allows an action; locking needs that of sleep. */
const FLAGS: Readonly<Record<string, string>> = {
  lock: 'enable_sleep',
  sleep: 'enable_sleep',
  hibernate: 'enable_hibernate',
  restart: 'enable_restart',
  shutdown: 'enable_shutdown',
};

export const POWER: CardRow = {
  Card: ({ system }) => (system === undefined ? null : <PowerCard />),
  Acts: PowerCard,
  absences: (_sample, { capabilities }) =>
    Object.entries(capabilities.power).map(
      ([action, can]) =>
        [powerLabel(action), whyNot(can, FLAGS[action] ?? action), `power.${action}`] as const,
    ),
};
