/** Disk traffic, and the usage of each filesystem. */
import type { DiskDetail } from '../../src/wire/sample.ts';
import { bytes, percent, round } from '../format.ts';
import type { Point } from '../history.ts';
import { Bar, Card, Folded, Mark, type Note, Notes } from '../parts/card.tsx';
import { Chart } from '../parts/chart.tsx';
import { levelOf } from '../parts/level.ts';
import { type Line, RATE } from '../parts/line.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';
import { daysLeft, fullestFirst } from './disk-rows.ts';
import type { CardRow } from './row.ts';

const T = {
  title: 'Disks',
  read: 'Read',
  write: 'Written',
  free: (text: string) => `${text} free`,
  of: (size: string) => `of ${size}`,
  used: (text: string) => `${text} used`,
  more: (count: number) => `${count} more`,
  busy: (text: string) => `${text} busy`,
  stale: 'not responding',
  readOnly: 'read-only',
} as const;

const LINES: readonly Line[] = [
  { series: 'disk.read', label: T.read, colour: 'series-1' },
  { series: 'disk.write', label: T.write, colour: 'series-3', isDashed: true },
];

function notesOf(disk: DiskDetail, daysLeft: number | undefined): readonly Note[] {
  return [
    daysLeft !== undefined && TEXTS.fullIn(daysLeft),
    T.of(round(bytes(disk.size))),
    disk.stale && T.stale,
    disk.type,
    disk.read_only === true && T.readOnly,
    disk.busy_percent !== null && !disk.stale && T.busy(percent(disk.busy_percent)),
  ];
}

function DiskRow({ disk, daysLeft }: { readonly disk: DiskDetail; readonly daysLeft: number | undefined }) {
  const share = percent(disk.used_percent);
  return (
    <li class="disk">
      <span class="name" title={disk.device ?? undefined}>
        {disk.fs}
      </span>
      <span class="value">
        <b>
          <Mark level={levelOf(disk.used_percent)} />
          {share}
        </b>{' '}
        <span>{T.free(bytes(disk.available))}</span>
      </span>
      <Bar label={disk.fs} share={disk.used_percent} words={T.used(share)} />
      <Notes parts={notesOf(disk, daysLeft)} isUnder />
    </li>
  );
}

function DiskCard({ disks }: { readonly disks: readonly DiskDetail[] }) {
  const trend = useValue(daysLeft);
  const rowsOf = (part: readonly DiskDetail[]) =>
    part.map((disk) => <DiskRow key={disk.fs} disk={disk} daysLeft={trend.get(disk.fs)} />);
  const [shown, more] = fullestFirst(disks);
  return (
    <Card title={T.title}>
      <Chart title={T.title} lines={LINES} scale={RATE} />
      <ul class="rows">{rowsOf(shown)}</ul>
      <Folded label={T.more(more.length)}>{rowsOf(more)}</Folded>
    </Card>
  );
}

/** Returns one filesystem per device: several of one device may be mounted, with the traffic of the whole device. */
const onePerDevice = (disks: readonly DiskDetail[]): readonly DiskDetail[] => [
  ...new Map(disks.map((disk) => [disk.device, disk])).values(),
];

function sumOf(disks: readonly DiskDetail[], key: 'read_rate' | 'write_rate'): Point {
  const known = onePerDevice(disks)
    .map((disk) => disk[key])
    .filter((rate) => rate !== null);
  return known.length === 0 ? null : known.reduce((sum, rate) => sum + rate, 0);
}

export const DISKS: CardRow = {
  Card: ({ sample: { disks } }) => (disks ? <DiskCard disks={disks} /> : null),
  points: ({ disks = [] }) => [
    ['disk.read', sumOf(disks, 'read_rate')],
    ['disk.write', sumOf(disks, 'write_rate')],
  ],
  kept: ['disk.read/*', 'disk.write/*'],
  sums: ({ disks = [] }) =>
    ['disk.read', 'disk.write'].map((series) => ({
      series,
      of: onePerDevice(disks).map(({ fs }) => `${series}/${fs}`),
    })),
};
