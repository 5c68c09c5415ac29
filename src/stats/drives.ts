/** The drives of a detailed sample and their health. */
import type { DriveCounters } from '../host/details.ts';
import type { DriveDetail } from '../wire/details.ts';
import type { DetailRow } from './detail-row.ts';
import { oneDecimal } from './round.ts';

function deriveDrive({ name, model, kind, health, failure }: DriveCounters): DriveDetail {
  if (health === null) return { name, model, kind, health, reason: failure };
  const { isPassing, percentageUsed, powerOnHours, temperatureCelsius, mediaErrors } = health;
  return {
    name,
    model,
    kind,
    health: {
      passed: isPassing,
      percentage_used: percentageUsed,
      power_on_hours: powerOnHours,
      temperature: temperatureCelsius === null ? null : oneDecimal(temperatureCelsius),
      media_errors: mediaErrors,
    },
    reason: null,
  };
}

export const DRIVES: DetailRow<'drives'> = {
  derive: ({ drives }) => (drives ?? []).map(deriveDrive),
  failures: ({ drives }) =>
    (drives ?? []).map(({ name, health, failure }) => [
      `health of ${name}`,
      health === null ? failure : null,
    ]),
  series: (drives) =>
    drives.flatMap(({ name, health }) => [
      {
        name: 'drive_passed',
        unit: 'count',
        of: name,
        value: health?.passed == null ? null : +health.passed,
      },
      { name: 'drive_endurance_used', unit: 'percent', of: name, value: health?.percentage_used ?? null },
      { name: 'drive_power_on', unit: 'hours', of: name, value: health?.power_on_hours ?? null },
      { name: 'drive_temperature', unit: 'celsius', of: name, value: health?.temperature ?? null },
      { name: 'drive_media_errors', unit: 'count', of: name, value: health?.media_errors ?? null },
    ]),
};
