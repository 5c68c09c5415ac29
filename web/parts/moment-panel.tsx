/** Shows the chosen moment: values, the reason for a gap, and the processes of that time. */
import { timeOfDay } from '../format.ts';
import { type Moment, ran, slotOf } from '../moment.ts';
import { notes, shown } from '../past.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';
import { Uses } from './uses.tsx';

/** Maximum distance of a mark from the moment, as a fraction of the shown time. */
const NEAR = 1 / 100;

export function MomentPanel({ moment: { at }, words }: { readonly moment: Moment; readonly words: string }) {
  const then = useValue(ran);
  const { marks } = useValue(notes);
  const near = marks.filter((mark) => Math.abs(mark.at - at) <= shown().range.seconds * NEAR);
  return (
    <div class="moment" role="status">
      <p>{TEXTS.chart.at(timeOfDay(at), words)}</p>
      {near.map((mark) => (
        <p key={mark.at} class="note">
          {mark.text}
        </p>
      ))}
      {then?.taken_at != null && (
        <div class={then.at === slotOf(at) ? undefined : 'old'}>
          <p class="note">{TEXTS.ran.title(timeOfDay(then.taken_at))}</p>
          <Uses of={then} />
        </div>
      )}
    </div>
  );
}
