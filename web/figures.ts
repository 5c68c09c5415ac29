/** The figures of the strip at the top: what decides whether a machine is well. Pure. */
import { bytes, celsius, percent, rate } from './format.ts';
import type { Level } from './parts/level.ts';
import type { Sample } from './sample.ts';
import { TEXTS } from './texts.ts';

export interface Figure {
  /** The card that it leads to. */
  readonly card: string;
  readonly label: string;
  readonly value: string;
  /** In full. */
  readonly title?: string;
  readonly share?: number | null;
  readonly level?: Level;
}

const T = TEXTS.strip;
/** Charge of a battery in percent. */
export const LOW = 15;

/** Returns the item with the greatest known value. */
function greatest<I>(items: readonly I[], read: (item: I) => number | null): I | undefined {
  const known = items.filter((item) => read(item) !== null);
  return known.reduce<I | undefined>(
    (best, item) => (best === undefined || (read(item) ?? 0) > (read(best) ?? 0) ? item : best),
    undefined,
  );
}

/** 1.2M, 40K, 120: there is room for ten characters. */
function short(value: number | null): string {
  if (value === null) return TEXTS.unknown;
  const [size = '', unit = ''] = bytes(value).split(' ');
  const digits = Number(size) < 10 && unit !== 'B' ? 1 : 0;
  return Number(size).toFixed(digits) + unit.replace(/i?B/, '');
}

function hottest({ sensors, cpu }: Sample): Figure | undefined {
  const sensor = greatest(
    sensors.filter(({ kind }) => kind === 'temperature'),
    ({ value }) => value,
  );
  if (sensor !== undefined)
    return { card: 'sensors', label: T.hottest, value: celsius(sensor.value), title: sensor.label };
  return cpu?.temperature == null
    ? undefined
    : { card: 'cpu', label: T.hottest, value: celsius(cpu.temperature), title: T.processor };
}

/** Without what the machine does not have. `daysLeft`: until each filesystem is full, by mount point, where that is foreseen. */
export function figuresOf(
  sample: Sample,
  daysLeft: ReadonlyMap<string, number> = new Map(),
): readonly Figure[] {
  const { cpu, memory, disks = [], network, batteries } = sample;
  const disk = greatest(disks, ({ used_percent }) => used_percent);
  const left = disk && daysLeft.get(disk.fs);
  const battery = greatest(batteries, ({ percent: charge }) => charge);
  const isCharging = battery?.state === 'charging' || battery?.state === 'full';
  const figures: readonly (Figure | undefined)[] = [
    { card: 'cpu', label: T.load, value: percent(cpu?.current_load) },
    memory && {
      card: 'memory',
      label: T.memory,
      value: percent(memory.used_percent),
      share: memory.used_percent,
    },
    disk && {
      card: 'disks',
      label: T.disk(disk.fs),
      value: percent(disk.used_percent) + (left === undefined ? '' : T.left(left)),
      title: T.disk(disk.fs) + (left === undefined ? '' : `, ${TEXTS.fullIn(left)}`),
      share: disk.used_percent,
    },
    hottest(sample),
    network && {
      card: 'network',
      label: T.network,
      value: `↓${short(network.receive_rate)} ↑${short(network.send_rate)}`,
      title: T.traffic(rate(network.receive_rate), rate(network.send_rate)),
    },
    battery && {
      card: 'batteries',
      label: isCharging ? T.charging : T.battery,
      value: percent(battery.percent),
      level: !isCharging && (battery.percent ?? 100) <= LOW ? 'raised' : undefined,
    },
  ];
  return figures.filter((figure) => figure !== undefined);
}
