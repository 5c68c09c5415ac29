/** GPUs: one card per device. */
import type { GpuDevice } from '../../src/wire/sample.ts';
import { celsius, mebibytes, megahertz, percent, round, watts } from '../format.ts';
import { shareOf } from '../history.ts';
import { Card, type Fact, Facts, Headline } from '../parts/card.tsx';
import { Chart } from '../parts/chart.tsx';
import { type Line, PERCENT } from '../parts/line.ts';
import type { CardRow } from './row.ts';

const T = {
  title: 'Graphics',
  load: 'Load',
  memory: 'Memory',
  temperature: 'Temperature',
  power: 'Power draw',
  fan: 'Fan speed',
  clock: 'Clock speed',
  asleep: 'asleep',
  of: (total: string) => `of ${total}`,
  none: 'no GPUs found',
} as const;

function GpuCard({ device, index }: { readonly device: GpuDevice; readonly index: number }) {
  const lines: Line[] = [
    { series: `gpu.load/${index}`, label: T.load, colour: 'series-5' },
    { series: `gpu.memory_percent/${index}`, label: T.memory, colour: 'series-3', isDashed: true },
  ];
  const facts: Fact[] = [
    [T.memory, `${mebibytes(device.memory_used)} ${T.of(round(mebibytes(device.memory_total)))}`],
    [T.temperature, celsius(device.temperature)],
    [T.power, watts(device.power_watts)],
    [T.fan, percent(device.fan_percent)],
    [T.clock, megahertz(device.clock_mhz)],
  ];
  const memory = shareOf(device.memory_used, device.memory_total);
  return (
    <Card title={T.title} note={device.name}>
      <Headline value={percent(device.load)}>
        {device.asleep ? T.asleep : `${T.memory} ${percent(memory)}`}
      </Headline>
      <Chart title={device.name} lines={lines} scale={PERCENT} />
      <Facts facts={facts} />
    </Card>
  );
}

export const GPU: CardRow = {
  Card: ({ sample: { gpu } }) => (
    // Devices are identified by their index, because two may have the same name.
    <>
      {gpu?.devices.map((device, i) => (
        <GpuCard key={i} device={device} index={i} />
      ))}
    </>
  ),
  points: ({ gpu }) =>
    (gpu?.devices ?? []).flatMap((device, i) => [
      [`gpu.load/${i}`, device.load] as const,
      [`gpu.memory_percent/${i}`, shareOf(device.memory_used, device.memory_total)] as const,
    ]),
  kept: ['gpu.load/*', 'gpu.memory/*'],
  // The service keeps it in MiB.
  sums: ({ gpu }) =>
    (gpu?.devices ?? []).flatMap(({ memory_total }, i) =>
      memory_total
        ? [{ series: `gpu.memory_percent/${i}`, of: [`gpu.memory/${i}`], factor: 100 / memory_total }]
        : [],
    ),
  absences: ({ gpu }) => [[T.title, gpu === null ? T.none : undefined]],
};
