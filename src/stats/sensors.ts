/** The sensors of a detailed sample: values in the units of their kinds. */
import type { SensorCounters, SensorKind } from '../host/details.ts';
import type { SensorDetail } from '../wire/details.ts';
import type { DetailRow, SeriesValue } from './detail-row.ts';

interface Unit {
  readonly unit: SensorDetail['unit'];
  /** Steps per unit, according to the decimals of such sensors. */
  readonly steps: number;
  readonly series: SeriesValue['unit'];
}

const UNITS: Readonly<Record<SensorKind, Unit>> = {
  temperature: { unit: '°C', steps: 10, series: 'celsius' },
  fan: { unit: 'RPM', steps: 1, series: 'rpm' },
  voltage: { unit: 'V', steps: 1000, series: 'volts' },
  power: { unit: 'W', steps: 100, series: 'watts' },
};

function deriveSensor({ label, kind, value }: SensorCounters): SensorDetail {
  const { unit, steps } = UNITS[kind];
  // Adding 0 turns −0 into 0.
  return { label, kind, value: value === null ? null : Math.round(value * steps) / steps + 0, unit };
}

export const SENSORS: DetailRow<'sensors'> = {
  derive: ({ sensors }) => (sensors ?? []).map(deriveSensor),
  failures: ({ sensors }) => (sensors ?? []).map(({ chip, failure }) => [`sensors of ${chip}`, failure]),
  series: (sensors) =>
    sensors.map(({ label, kind, value }) => ({
      name: `sensor_${kind}`,
      unit: UNITS[kind].series,
      of: label,
      value,
    })),
};
