/** Shows the chosen moment: values, the reason for a gap, and the processes of that time. */
import type { Moment } from '../chosen.ts';
import { momentText } from '../format.ts';
import type { History } from '../history.ts';
import { ran, slotOf } from '../moment.ts';
import { notes, shown } from '../past.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';
import type { Line } from './line.ts';
import { Uses } from './uses.tsx';

/** Maximum distance of a mark from the moment, as a fraction of the shown time. */
const NEAR = 1 / 100;

/** Returns the begin and the end of the gap of a series at `at`; undefined: it has a value. */
function gapAt(history: History, series: string, at: number): readonly [number, number] | undefined {
  const { times, range } = history;
  const mean = history.columns(series)?.[0];
  const slot = history.slotOf(at);
  if (mean === undefined || mean[slot] !== null) return undefined;
  const before = mean.findLastIndex((value, i) => i < slot && value !== null);
  const after = mean.findIndex((value, i) => i > slot && value !== null);
  const end = after < 0 ? Number.POSITIVE_INFINITY : (times[after] ?? 0);
  return [(times[before + 1] ?? 0) - range.step, end + range.step];
}

export function MomentPanel({
  moment: { at },
  words,
  lines: [first],
}: {
  readonly moment: Moment;
  readonly words: string;
  readonly lines: readonly Line[];
}) {
  const then = useValue(ran);
  const { marks } = useValue(notes);
  const history = shown();
  const gap = gapAt(history, first?.series ?? '', at);
  const nearPx = history.range.seconds * NEAR;
  const isNear = (time: number) =>
    Math.abs(time - at) <= nearPx || (gap !== undefined && time >= gap[0] && time <= gap[1]);
  const texts = marks.filter((mark) => isNear(mark.at)).map(({ text }) => text);
  if (gap !== undefined && texts.length === 0)
    texts.push(history.hasValue('battery.charge/', ...gap) ? TEXTS.chart.gapOnBattery : TEXTS.chart.gap);
  return (
    <div class="moment" role="status">
      <p>{TEXTS.chart.at(momentText(at, history.range.step), words)}</p>
      {texts.map((text) => (
        <p key={text} class="note">
          {text}
        </p>
      ))}
      {then?.taken_at != null && (
        <div class={then.at === slotOf(at) ? undefined : 'old'}>
          <p class="note">{TEXTS.ran.title(momentText(then.taken_at))}</p>
          <Uses of={then} />
        </div>
      )}
    </div>
  );
}
