/** Batteries: charge, and what becomes of it. */
import type { BatteryDetail } from '../../src/wire/usage.ts';
import { duration, percent, watts } from '../format.ts';
import { Bar, Card } from '../parts/card.tsx';
import { Chart, type Line, PERCENT_RANGE } from '../parts/chart.tsx';
import { SERIES } from '../parts/palette.ts';
import { TEXTS } from '../texts.ts';

const T = TEXTS.batteries;
const SCALE = { format: percent, range: PERCENT_RANGE };

function noteOf(battery: BatteryDetail): string {
  const left = battery.seconds_left === null ? undefined : duration(battery.seconds_left);
  const parts = [
    T.states[battery.state],
    battery.power_watts === null ? undefined : watts(battery.power_watts),
    left === undefined ? undefined : battery.state === 'charging' ? T.untilFull(left) : T.untilEmpty(left),
    battery.health_percent === null ? undefined : T.health(percent(battery.health_percent)),
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}

export function BatteryCard({ batteries }: { readonly batteries: readonly BatteryDetail[] }) {
  const lines = batteries.map(
    (battery, i): Line => ({
      series: `battery ${battery.name}`,
      label: battery.name,
      colour: SERIES[(i + 2) % SERIES.length] ?? 'series-3',
      isDashed: i > 0,
    }),
  );
  return (
    <Card title={T.title}>
      <ul class="rows">
        {batteries.map((battery) => (
          <li key={battery.name} class="disk">
            <span class="name">{battery.name}</span>
            <span class="value">{percent(battery.percent)}</span>
            <Bar label={T.charge} share={battery.percent} words={percent(battery.percent)} />
            <p class="note under">{noteOf(battery)}</p>
          </li>
        ))}
      </ul>
      <Chart title={T.title} lines={lines} scale={SCALE} height={110} />
    </Card>
  );
}
