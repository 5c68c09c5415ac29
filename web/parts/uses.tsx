/** Programs that used most at a moment. */
import type { ProcessUse, ProcessUses } from '../../src/wire/history.ts';
import { bytes, percent, rate } from '../format.ts';
import { TEXTS } from '../texts.ts';

const T = TEXTS.ran;
const LISTS = [
  ['cpu', (value: number) => percent(value, 1)],
  ['memory', bytes],
  ['disk', rate],
] as const;
/** Short, because it must not cover much of the page. */
const MAX_ROWS = 3;

function Row({
  use: { name, count, value },
  format,
}: {
  readonly use: ProcessUse;
  readonly format: (value: number) => string;
}) {
  return (
    <li>
      <span class="name">{T.several(name, count)}</span>
      <span class="value">{format(value)}</span>
    </li>
  );
}

export function Uses({ of }: { readonly of: ProcessUses }) {
  return (
    <div class="uses">
      {LISTS.map(([key, format]) =>
        of[key]?.length ? (
          <div key={key}>
            <h3>{T[key]}</h3>
            <ul class="rows">
              {of[key].slice(0, MAX_ROWS).map((use) => (
                <Row key={use.name} use={use} format={format} />
              ))}
            </ul>
          </div>
        ) : null,
      )}
    </div>
  );
}
