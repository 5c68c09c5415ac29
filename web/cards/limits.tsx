/** Limits of the service on this machine, if it has any: the other cards show the machine. */
import type { LimitsDetail } from '../../src/wire/details.ts';
import { bytes, percent, plain, round } from '../format.ts';
import { Bar, Card, type Fact, Facts } from '../parts/card.tsx';
import type { CardRow } from './row.ts';

const T = {
  title: 'Limits of this service',
  memory: 'Memory',
  of: (used: string, limit: string) => `${used} of ${limit}`,
  cpus: 'Processor cores allowed',
  throttled: 'Time throttled by that limit',
} as const;

function usedPercent({ memory_bytes, memory_used_bytes }: LimitsDetail): number | null {
  return memory_bytes && memory_used_bytes !== null ? (memory_used_bytes / memory_bytes) * 100 : null;
}

function LimitsCard({ limits }: { readonly limits: LimitsDetail }) {
  const { memory_bytes, memory_used_bytes, cpus, throttled_percent } = limits;
  const share = usedPercent(limits);
  const facts: Fact[] = [];
  if (memory_bytes !== null)
    facts.push([T.memory, T.of(bytes(memory_used_bytes), round(bytes(memory_bytes)))]);
  if (cpus !== null) facts.push([T.cpus, plain(cpus, 2)], [T.throttled, percent(throttled_percent, 1)]);
  return (
    <Card title={T.title}>
      {memory_bytes !== null && <Bar label={T.memory} share={share} words={percent(share)} />}
      <Facts facts={facts} />
    </Card>
  );
}

export const LIMITS: CardRow = {
  Card: ({ sample: { limits } }) => (limits ? <LimitsCard limits={limits} /> : null),
};
