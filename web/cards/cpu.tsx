/** The processor: total load and load per core. */
import { Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ProcessShare } from '../../src/wire/process.ts';
import { useMay } from '../access.ts';
import { celsius, gigahertz, percent, plain, watts } from '../format.ts';
import { Card, type Fact, Facts, Headline } from '../parts/card.tsx';
import { Chart } from '../parts/chart.tsx';
import { type Line, PERCENT } from '../parts/line.ts';
import { want } from '../past.ts';
import type { Detail, System } from '../sample.ts';
import { counted, TEXTS } from '../texts.ts';
import { TopRow } from './processes/top-row.tsx';
import type { CardRow } from './row.ts';

const T = {
  title: 'Processor',
  load: 'Load',
  temperature: 'Temperature',
  speed: 'Clock speed',
  power: 'Power draw',
  loadAverage: 'Load over 1, 5, 15 min',
  pressure: 'CPU pressure',
  pressureMeans: 'Share of the last 10 s in which at least one process waited for a processor',
  cores: 'Load of each core',
  core: (index: number, load: string) => `core ${index}: ${load}`,
  coreCount: (cores: number, physical: number) =>
    counted(physical, 'core', 'cores') +
    (cores === physical ? '' : `, ${counted(cores, 'thread', 'threads')}`),
  eachCore: 'Each core',
} as const;

/** More cores are drawn without a space between them, so that they fit on a phone. */
const MAX_SPACED = 48;
const ROW_CORES = 64;
const TOTAL: Line = { series: 'cpu.load', label: T.load, colour: 'series-1' };

function Cores({ loads }: { readonly loads: readonly (number | null)[] }) {
  const words = loads.map((load, i) => T.core(i, percent(load))).join(', ');
  const rows = Array.from({ length: Math.ceil(loads.length / ROW_CORES) }, (_, row) => row * ROW_CORES);
  return (
    <div class="cores" role="img" aria-label={`${T.cores}: ${words}`}>
      {rows.map((first) => (
        <Fragment key={first}>
          <b>{first}</b>
          <span class={loads.length > MAX_SPACED ? 'lane tight' : 'lane'}>
            {loads.slice(first, first + ROW_CORES).map((load, i) => (
              // Cores are identified by their index; their order never changes.
              <i key={i} title={T.core(first + i, percent(load))} style={{ '--load': String(load ?? 0) }} />
            ))}
          </span>
        </Fragment>
      ))}
    </div>
  );
}

interface CpuCardProps {
  readonly cpu: Detail<'cpu'>;
  readonly about: System['cpu'] | undefined;
  readonly busiest: ProcessShare | undefined;
}

function CpuCard({ cpu, about, busiest }: CpuCardProps) {
  const [hasLines, showLines] = useState(false);
  const may = useMay();
  useEffect(() => {
    if (hasLines) want('cpu.core/*');
  }, [hasLines]);
  const cores = cpu.cores.map(
    (_, i): Line => ({ series: `cpu.core/${i}`, label: '', colour: 'series-2', isFaint: true }),
  );
  const facts: Fact[] = [
    [T.temperature, celsius(cpu.temperature)],
    [T.speed, gigahertz(cpu.current_speed)],
    [T.loadAverage, cpu.load_average?.map((load) => plain(load, 2)).join('  ') ?? TEXTS.unknown],
    [T.power, watts(cpu.power_watts)],
    [T.pressure, percent(cpu.pressure?.some, 1), T.pressureMeans],
  ];
  return (
    <Card title={T.title} note={about?.brand}>
      <div class="split">
        <Headline value={percent(cpu.current_load)}>
          {about !== undefined && T.coreCount(about.cores, about.physical_cores)}
        </Headline>
        <label class="check">
          <input type="checkbox" checked={hasLines} onChange={() => showLines(!hasLines)} /> {T.eachCore}
        </label>
      </div>
      <Chart title={T.title} lines={hasLines ? [TOTAL, ...cores] : [TOTAL]} scale={PERCENT} />
      <Cores loads={cpu.cores} />
      {busiest !== undefined && may('processes') && (
        <ul class="rows">
          <TopRow row={busiest} value={percent(busiest.cpu, 1)} />
        </ul>
      )}
      <Facts facts={facts} />
    </Card>
  );
}

export const CPU: CardRow = {
  Card: ({ sample: { cpu, processes }, system }) =>
    cpu ? <CpuCard cpu={cpu} about={system?.cpu} busiest={processes?.top_cpu?.[0]} /> : null,
  points: ({ cpu }) => [
    ['cpu.load', cpu?.current_load ?? null],
    ...(cpu?.cores ?? []).map((load, i) => [`cpu.core/${i}`, load] as const),
  ],
  kept: ['cpu.load'],
};
