/** A process among the busiest, whose name opens its details. */
import type { ProcessShare } from '../../../src/wire/process.ts';
import { Value } from '../../value.ts';
import type { Subject } from './details.tsx';

/** Shown in a dialog of the card of processes. */
export const subject = new Value<Subject | undefined>(undefined);

export const look = (next?: Subject): void => subject.set(next);

export function TopRow({
  row: { name, pid },
  value,
}: {
  readonly row: ProcessShare;
  readonly value: string;
}) {
  return (
    <li>
      <span class="name">
        <button
          type="button"
          class="quiet open cut"
          aria-haspopup="dialog"
          onClick={() => look({ name, pid })}
        >
          {name} <small>{pid}</small>
        </button>
      </span>
      <span class="value">{value}</span>
    </li>
  );
}
