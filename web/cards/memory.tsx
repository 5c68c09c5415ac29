/** Memory and swap. */
import { bytes, percent, round } from '../format.ts';
import { Bar, Card, type Fact, Facts, Headline } from '../parts/card.tsx';
import { Chart } from '../parts/chart.tsx';
import { type Line, PERCENT } from '../parts/line.ts';
import type { Detail } from '../sample.ts';
import type { CardRow } from './row.ts';

const T = {
  title: 'Memory',
  used: 'Used',
  cached: 'Used as cache',
  swap: 'Swap',
  available: 'Available',
  of: (total: string) => `of ${total}`,
  pressure: 'Memory pressure',
  pressureMeans: 'Share of the last 10 s in which at least one process waited for memory',
} as const;

const USED: Line = { series: 'memory.used_percent', label: T.used, colour: 'series-3' };
const SWAP: Line = { series: 'memory.swap_percent', label: T.swap, colour: 'series-2', isDashed: true };

function MemoryCard({ memory }: { readonly memory: Detail<'memory'> }) {
  const hasSwap = (memory.swap?.total ?? 0) > 0;
  const facts: Fact[] = [
    [T.available, bytes(memory.free)],
    [T.cached, bytes(memory.cached)],
    ...(hasSwap
      ? [[T.swap, `${bytes(memory.swap?.used)} ${T.of(round(bytes(memory.swap?.total)))}`] as const]
      : []),
    [T.pressure, percent(memory.pressure?.some, 1), T.pressureMeans],
  ];
  return (
    <Card title={T.title} note={round(bytes(memory.total))}>
      <Headline value={bytes(memory.used)}>{percent(memory.used_percent)}</Headline>
      <Bar label={T.title} share={memory.used_percent} words={percent(memory.used_percent)} />
      <Chart title={T.title} lines={hasSwap ? [USED, SWAP] : [USED]} scale={PERCENT} />
      <Facts facts={facts} />
    </Card>
  );
}

export const MEMORY: CardRow = {
  Card: ({ sample: { memory } }) => (memory ? <MemoryCard memory={memory} /> : null),
  points: ({ memory }) => [
    ['memory.used_percent', memory?.used_percent ?? null],
    ['memory.swap_percent', memory?.swap?.used_percent ?? null],
  ],
  kept: ['memory.used_percent', 'memory.swap_percent'],
};
