/** Drives: the verdict of each on its own health, and the numbers behind it. */
import type { DriveDetail } from '../../src/wire/details.ts';
import { celsius, count, percent } from '../format.ts';
import { Card, type Note, Notes } from '../parts/card.tsx';
import { whyNoHealth } from './drive-health.ts';
import type { CardRow } from './row.ts';

const T = {
  title: 'Drive health',
  passed: 'passed',
  failing: 'failing',
  unknown: 'unknown',
  used: (text: string) => `${text} of rated endurance used`,
  on: (hours: number) => `powered on for ${count(hours)} h`,
  errors: (errors: number) => (errors === 1 ? '1 media error' : `${count(errors)} media errors`),
} as const;

function verdictOf({ health }: DriveDetail): string {
  if (health === null || health.passed === null) return T.unknown;
  return health.passed ? T.passed : T.failing;
}

function notesOf({ model, health, reason }: DriveDetail): readonly Note[] {
  return [
    model,
    reason,
    health?.temperature == null ? null : celsius(health.temperature),
    health?.percentage_used == null ? null : T.used(percent(health.percentage_used)),
    health?.power_on_hours == null ? null : T.on(health.power_on_hours),
    health?.media_errors == null ? null : T.errors(health.media_errors),
  ];
}

function DriveCard({ drives }: { readonly drives: readonly DriveDetail[] }) {
  return (
    <Card title={T.title}>
      <ul class="rows">
        {drives.map((drive) => (
          <li key={drive.name} class="disk">
            <span class="name">{drive.name}</span>
            <span class="value">{verdictOf(drive)}</span>
            <Notes parts={notesOf(drive)} isUnder />
          </li>
        ))}
      </ul>
    </Card>
  );
}

export const DRIVES: CardRow = {
  Card: ({ sample: { drives } }) =>
    whyNoHealth(drives) === undefined ? <DriveCard drives={drives} /> : null,
  absences: ({ drives }) => [[T.title, whyNoHealth(drives)]],
};
