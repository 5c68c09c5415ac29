/** What disks read and write, and how full each filesystem is. */
import type { DiskDetail } from '../../src/wire/sample.ts';
import { bytes, percent, rate, rateTick } from '../format.ts';
import { Bar, Card } from '../parts/card.tsx';
import { Chart, type Line, RATE_RANGE } from '../parts/chart.tsx';
import { TEXTS } from '../texts.ts';

const T = TEXTS.disks;
const SCALE = { format: rate, tick: rateTick, range: RATE_RANGE };
const LINES: readonly Line[] = [
  { series: 'read', label: T.read, colour: 'series-1' },
  { series: 'write', label: T.write, colour: 'series-4', isDashed: true },
];
const MOST_SHOWN = 12;

function noteOf(disk: DiskDetail): string {
  if (disk.stale) return T.stale;
  const parts = [
    disk.type,
    disk.read_only === true && T.readOnly,
    disk.busy_percent !== null && T.busy(percent(disk.busy_percent)),
  ];
  return parts.filter((part) => typeof part === 'string').join(' · ');
}

export function DiskCard({ disks }: { readonly disks: readonly DiskDetail[] }) {
  return (
    <Card title={T.title}>
      <Chart title={T.title} lines={LINES} scale={SCALE} />
      <ul class="rows">
        {disks.slice(0, MOST_SHOWN).map((disk) => (
          <li key={disk.fs} class="disk">
            <span class="name" title={disk.device ?? undefined}>
              {disk.fs} <small>{noteOf(disk)}</small>
            </span>
            <span class="value">{T.usedOf(bytes(disk.used), bytes(disk.size))}</span>
            <Bar label={disk.fs} share={disk.used_percent} words={percent(disk.used_percent)} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
