/** Chooses the time that all charts show. */
import { RANGES } from '../history.ts';
import { choose, hasHistory, range } from '../past.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';

export function RangeSwitch() {
  const current = useValue(range);
  if (useValue(hasHistory) !== true) return null;
  return (
    <fieldset class="ranges">
      <legend class="unseen">{TEXTS.chart.range}</legend>
      {RANGES.map(({ label }, i) => (
        <label key={label}>
          <input type="radio" name="range" checked={i === current} onChange={() => choose(i)} />
          <span class="pill">{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
