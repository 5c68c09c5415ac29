/** The sensors of a detailed sample: values in the units of their kinds. */
import type { SensorCounters, SensorKind } from '../host/host.ts';
import type { SensorDetail } from '../wire/usage.ts';

/** As many decimals as such sensors have: thousandths of a volt, whole turns. */
const UNITS: Readonly<Record<SensorKind, { readonly unit: SensorDetail['unit']; readonly steps: number }>> = {
  temperature: { unit: '°C', steps: 10 },
  fan: { unit: 'RPM', steps: 1 },
  voltage: { unit: 'V', steps: 1000 },
  power: { unit: 'W', steps: 100 },
};

export function deriveSensors(sensors: readonly SensorCounters[] | undefined): readonly SensorDetail[] {
  return (sensors ?? []).map(({ label, kind, value }) => {
    const { unit, steps } = UNITS[kind];
    // The sum makes 0 of −0.
    return { label, kind, value: value === null ? null : Math.round(value * steps) / steps + 0, unit };
  });
}
