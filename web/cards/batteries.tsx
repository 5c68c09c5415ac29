/** Batteries: charge, power, time left and health. */
import type { BatteryDetail } from '../../src/wire/details.ts';
import { LOW } from '../figures.ts';
import { duration, percent, watts } from '../format.ts';
import { Bar, Card, type Note, Notes } from '../parts/card.tsx';
import { Chart } from '../parts/chart.tsx';
import { type Line, PERCENT } from '../parts/line.ts';
import { SERIES } from '../parts/palette.ts';
import type { CardRow } from './row.ts';

const T = {
  title: 'Battery',
  charge: 'Charge',
  states: {
    charging: 'charging',
    discharging: 'discharging',
    full: 'full',
    not_charging: 'not charging',
    unknown: 'state unknown',
  },
  untilFull: (text: string) => `${text} until full`,
  untilEmpty: (text: string) => `${text} left`,
  health: (text: string) => `health ${text}`,
  none: 'no battery found',
} as const;

function notesOf(battery: BatteryDetail): readonly Note[] {
  const left = battery.seconds_left === null ? undefined : duration(battery.seconds_left);
  return [
    T.states[battery.state],
    battery.power_watts === null ? undefined : watts(battery.power_watts),
    left === undefined ? undefined : battery.state === 'charging' ? T.untilFull(left) : T.untilEmpty(left),
    battery.health_percent === null ? undefined : T.health(percent(battery.health_percent)),
  ];
}

function BatteryCard({ batteries }: { readonly batteries: readonly BatteryDetail[] }) {
  const lines = batteries.map(
    (battery, i): Line => ({
      series: `battery.charge/${battery.name}`,
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
            <Bar
              label={T.charge}
              share={battery.percent}
              words={percent(battery.percent)}
              level={(battery.percent ?? 100) <= LOW ? 'raised' : 'none'}
            />
            <Notes parts={notesOf(battery)} isUnder />
          </li>
        ))}
      </ul>
      <Chart title={T.title} lines={lines} scale={PERCENT} />
    </Card>
  );
}

export const BATTERIES: CardRow = {
  Card: ({ sample: { batteries } }) => (batteries.length > 0 ? <BatteryCard batteries={batteries} /> : null),
  points: ({ batteries }) =>
    batteries.map(({ name, percent }) => [`battery.charge/${name}`, percent] as const),
  kept: ['battery.charge/*'],
  absences: ({ batteries }) => [[T.title, batteries.length === 0 ? T.none : undefined]],
};
