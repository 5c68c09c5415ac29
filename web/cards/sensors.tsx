/** Temperatures as a chart, and all sensors in a list that opens. */
import type { SensorDetail } from '../../src/wire/details.ts';
import { measured } from '../format.ts';
import { Card } from '../parts/card.tsx';
import { Chart } from '../parts/chart.tsx';
import { DEGREES, type Line } from '../parts/line.ts';
import { SERIES } from '../parts/palette.ts';
import type { CardRow } from './row.ts';

const T = {
  title: 'Sensors',
  kinds: { temperature: 'Temperatures', fan: 'Fans', voltage: 'Voltages', power: 'Power' },
  all: (count: number) => (count === 1 ? '1 sensor' : `All ${count} sensors`),
  none: 'no readable sensors',
} as const;

const KINDS = ['temperature', 'fan', 'voltage', 'power'] as const;
const MAX_LINES = 4;

/** Returns the first temperature of each chip, which is that of the whole chip, if it has one. */
function charted(sensors: readonly SensorDetail[]): readonly Line[] {
  const chips = new Map<string, SensorDetail>();
  for (const sensor of sensors) {
    const [chip = sensor.label] = sensor.label.split(' ');
    if (sensor.kind === 'temperature' && sensor.value !== null && !chips.has(chip)) chips.set(chip, sensor);
  }
  return [...chips.values()].slice(0, MAX_LINES).map((sensor, i) => ({
    series: `sensor.temperature/${sensor.label}`,
    label: sensor.label,
    colour: SERIES[i % SERIES.length] ?? 'series-1',
    isDashed: i > 0,
  }));
}

function SensorCard({ sensors }: { readonly sensors: readonly SensorDetail[] }) {
  const lines = charted(sensors);
  return (
    <Card title={T.title}>
      {lines.length > 0 && <Chart title={T.kinds.temperature} lines={lines} scale={DEGREES} />}
      <details open={lines.length === 0}>
        <summary>{T.all(sensors.length)}</summary>
        {KINDS.filter((kind) => sensors.some((sensor) => sensor.kind === kind)).map((kind) => (
          <div key={kind}>
            <h3>{T.kinds[kind]}</h3>
            <ul class="rows">
              {sensors
                .filter((sensor) => sensor.kind === kind)
                .map((sensor) => (
                  <li key={sensor.label}>
                    <span class="name">{sensor.label}</span>
                    <span class="value">{measured(sensor.value, sensor.unit)}</span>
                  </li>
                ))}
            </ul>
          </div>
        ))}
      </details>
    </Card>
  );
}

export const SENSORS: CardRow = {
  Card: ({ sample: { sensors } }) => (sensors.length > 0 ? <SensorCard sensors={sensors} /> : null),
  points: ({ sensors }) =>
    sensors
      .filter(({ kind }) => kind === 'temperature')
      .map(({ label, value }) => [`sensor.temperature/${label}`, value] as const),
  kept: ['sensor.temperature/*'],
  absences: ({ sensors }) => [[T.title, sensors.length === 0 ? T.none : undefined]],
};
