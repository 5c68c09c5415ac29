/** The processor: its load as a whole and of each core. */
import { useState } from 'preact/hooks';
import { celsius, gigahertz, percent, plain, watts } from '../format.ts';
import { system } from '../live.ts';
import { Card, type Fact, Facts, Headline } from '../parts/card.tsx';
import { Chart, type Line, PERCENT_RANGE } from '../parts/chart.tsx';
import type { Detail } from '../sample.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';

const T = TEXTS.cpu;
const SCALE = { format: percent, range: PERCENT_RANGE };
const TOTAL: Line = { series: 'cpu', label: T.load, colour: 'series-1' };

function Cores({ loads }: { readonly loads: readonly (number | null)[] }) {
  const words = loads.map((load, i) => T.core(i, percent(load))).join(', ');
  return (
    <div class="cores" role="img" aria-label={`${T.cores}: ${words}`}>
      {loads.map((load, i) => (
        // A core is its place: they never change their order.
        <i key={i} title={T.core(i, percent(load))} style={{ '--load': String(load ?? 0) }} />
      ))}
    </div>
  );
}

export function CpuCard({ cpu }: { readonly cpu: Detail<'cpu'> }) {
  const about = useValue(system)?.cpu;
  const [hasLines, showLines] = useState(false);
  const cores = cpu.cores.map(
    (_, i): Line => ({ series: `core ${i}`, label: '', colour: 'series-2', isFaint: true }),
  );
  const facts: Fact[] = [
    [T.temperature, celsius(cpu.temperature)],
    [T.speed, gigahertz(cpu.current_speed)],
    [T.loadAverage, cpu.load_average?.map((load) => plain(load, 2)).join('  ') ?? TEXTS.unknown],
    [T.power, watts(cpu.power_watts)],
    [T.pressure, percent(cpu.pressure?.some, 1)],
  ];
  return (
    <Card title={T.title} note={about?.brand} size="wide">
      <div class="split">
        <Headline value={percent(cpu.current_load)}>
          {about !== undefined && T.coreCount(about.cores, about.physical_cores)}
        </Headline>
        <label class="check">
          <input type="checkbox" checked={hasLines} onChange={() => showLines(!hasLines)} /> {T.eachCore}
        </label>
      </div>
      <Chart title={T.title} lines={hasLines ? [TOTAL, ...cores] : [TOTAL]} scale={SCALE} height={150} />
      <Cores loads={cpu.cores} />
      <Facts facts={facts} />
    </Card>
  );
}
