/** The button of an open event that mutes it for some time, with a reason, or ends that. */
import { useState } from 'preact/hooks';
import type { Mute } from '../../src/wire/events.ts';
import { useMay } from '../access.ts';
import { momentText } from '../format.ts';
import { post } from '../requests.ts';
import { NoticeLine, useActs } from './notice.tsx';

const T = {
  mute: 'Mute',
  muteWhat: (text: string) => `Mute: ${text}`,
  unmute: 'Unmute',
  muted: (until: string, reason: string) =>
    `Muted until ${until}${reason === '' ? '' : `: ${reason}`}. It is not sent to anybody.`,
  what: 'What',
  time: 'For',
  reason: 'Reason',
} as const;
const TIMES = [
  [3600, '1 hour'],
  [28_800, '8 hours'],
  [86_400, '1 day'],
  [604_800, '7 days'],
] as const;

type Choices = readonly (readonly [value: number | string, label: string])[];

const select = (name: string, label: string, choices: Choices) => (
  <select name={name} aria-label={label}>
    {choices.map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
);

/** `choices`: each name that mutes the event, and its label; none: not here. `mute`: why it is muted now. */
export function Muting({
  text,
  choices,
  mute,
  onMuted,
}: {
  readonly text: string;
  readonly choices: Choices;
  readonly mute: Mute | undefined;
  readonly onMuted: () => void;
}) {
  const [isAsking, ask] = useState(false);
  const acts = useActs();
  const may = useMay();
  const send = (what: unknown, seconds: number, reason = '') =>
    acts.run(async () => {
      await post('/api/events/mute', { what, seconds, reason });
      ask(false);
      onMuted();
      return undefined;
    });
  const submit = (submitted: SubmitEvent) => {
    submitted.preventDefault();
    if (!(submitted.currentTarget instanceof HTMLFormElement)) return;
    const data = new FormData(submitted.currentTarget);
    void send(data.get('what') ?? choices[0]?.[0], Number(data.get('seconds')), String(data.get('reason')));
  };
  return (
    <>
      {mute !== undefined && <p class="note">{T.muted(momentText(mute.until, 60), mute.reason)}</p>}
      {choices.length > 0 && may('admin') && !isAsking && (
        <span>
          <button
            type="button"
            class="quiet"
            aria-label={mute === undefined ? T.muteWhat(text) : undefined}
            disabled={acts.isBusy}
            onClick={() => (mute === undefined ? ask(true) : void send(mute.what, 0))}
          >
            {mute === undefined ? T.mute : T.unmute}
          </button>
        </span>
      )}
      {isAsking && (
        <form class="muting" onSubmit={submit}>
          {choices.length > 1 && select('what', T.what, choices)}
          {select('seconds', T.time, TIMES)}
          <input type="text" name="reason" maxLength={200} aria-label={T.reason} placeholder={T.reason} />
          <button type="submit" class="quiet" disabled={acts.isBusy}>
            {T.mute}
          </button>
        </form>
      )}
      <NoticeLine of={acts} />
    </>
  );
}
