/** Temperatures as a chart; every other sensor in a list that opens. */
import type { SensorDetail } from '../../src/wire/usage.ts';
import { celsius, measured } from '../format.ts';
import { Card } from '../parts/card.tsx';
import { Chart, DEGREE_RANGE, type Line } from '../parts/chart.tsx';
import { SERIES } from '../parts/palette.ts';
import { TEXTS } from '../texts.ts';

const T = TEXTS.sensors;
const SCALE = { format: celsius, range: DEGREE_RANGE };
const KINDS = ['temperature', 'fan', 'voltage', 'power'] as const;
const MOST_LINES = 4;

/** The first of each chip: it is the one for the whole where there is one. */
function charted(sensors: readonly SensorDetail[]): readonly Line[] {
  const chips = new Map<string, SensorDetail>();
  for (const sensor of sensors) {
    const [chip = sensor.label] = sensor.label.split(' ');
    if (sensor.kind === 'temperature' && sensor.value !== null && !chips.has(chip)) chips.set(chip, sensor);
  }
  return [...chips.values()].slice(0, MOST_LINES).map((sensor, i) => ({
    series: `sensor ${sensor.label}`,
    label: sensor.label,
    colour: SERIES[i % SERIES.length] ?? 'series-1',
    isDashed: i > 0,
  }));
}

export function SensorCard({ sensors }: { readonly sensors: readonly SensorDetail[] }) {
  const lines = charted(sensors);
  return (
    <Card title={T.title}>
      {lines.length > 0 && <Chart title={T.kinds.temperature} lines={lines} scale={SCALE} />}
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
