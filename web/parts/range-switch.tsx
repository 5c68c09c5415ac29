/** Chooses the time that all charts show, and says which moment of it was chosen. */
import { useState } from 'preact/hooks';
import { moment, pinned } from '../chosen.ts';
import { momentText } from '../format.ts';
import { RANGES } from '../history.ts';
import { serviceNow } from '../live.ts';
import { pin } from '../moment.ts';
import { choose, chooseNow, drawn, hasHistory, move, oldest, range, shown } from '../past.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';

const T = TEXTS.chart;

function Step({ by, label }: { readonly by: 1 | -1; readonly label: string }) {
  return (
    <button type="button" class="quiet" aria-label={label} title={label} onClick={() => move(by)}>
      {by < 0 ? '◀' : '▶'}
    </button>
  );
}

/** A link to the shown time, once that ends before now or a moment is pinned. */
function CopyLink() {
  const [copied, setCopied] = useState('');
  const copy = async () => {
    const { times, range: shownRange } = shown();
    const [from = 0] = times;
    // A range that ends now would be another one for who opens the link.
    const link = new URL(location.href);
    const params = new URLSearchParams(link.hash.slice(1));
    if (!params.has('from')) {
      params.set('from', String(from));
      params.set('to', String(from + shownRange.seconds));
    }
    link.hash = params.toString();
    await navigator.clipboard?.writeText(link.href).catch(() => undefined);
    setCopied(link.hash);
  };
  const isCopied = copied !== '' && copied.includes(location.hash.slice(1));
  return (
    <button type="button" class="quiet" onClick={copy}>
      {isCopied ? T.linked : T.link}
    </button>
  );
}

/** The words of the shown time or of the chosen moment. */
function Shown() {
  useValue(drawn);
  const then = useValue(moment);
  const {
    times,
    range: { from, step },
  } = shown();
  if (then !== undefined) return <span>{T.isThen(momentText(then.at, step))}</span>;
  if (from === undefined) return null;
  return (
    <span>
      {momentText(from, 60)} – {momentText((times.at(-1) ?? from) + step, 60)}
    </span>
  );
}

export function RangeSwitch() {
  const current = useValue(range);
  const begin = useValue(oldest);
  const isPinned = useValue(pinned) !== undefined;
  if (useValue(hasHistory) !== true) return null;
  const age = serviceNow() - (begin ?? 0);
  // As far as the history goes, which may be less than its first step.
  const ranges = RANGES.filter((_, i) => i < 2 || age > (RANGES[i - 1]?.seconds ?? 0));
  const isPast = current.from !== undefined;
  return (
    <div class="times">
      <Step by={-1} label={T.earlier} />
      <fieldset class="ranges">
        <legend class="unseen">{T.range}</legend>
        {ranges.map((each) => (
          <label key={each.label}>
            <input type="radio" name="range" checked={each === current} onChange={() => choose(each)} />
            <span class="pill">{each.label}</span>
          </label>
        ))}
      </fieldset>
      {isPast && <Step by={1} label={T.later} />}
      <Shown />
      <p id="keys" class="unseen">
        {T.keys}
      </p>
      {(isPast || isPinned) && (
        <>
          <CopyLink />
          <button
            type="button"
            class="quiet"
            onClick={() => {
              pin(undefined);
              chooseNow();
            }}
          >
            {T.now}
          </button>
        </>
      )}
    </div>
  );
}
