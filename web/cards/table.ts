/** The cards, one row each, in order of interest: first the sections and details, then the cards that send commands. */
import type { Section } from '../../src/client/client.ts';
import type { Details } from '../../src/wire/details.ts';
import type { Charts } from '../past.ts';
import { BATTERIES } from './batteries.tsx';
import { CPU } from './cpu.tsx';
import { DISKS } from './disks.tsx';
import { DRIVES } from './drives.tsx';
import { GPU } from './gpu.tsx';
import { LIMITS } from './limits.tsx';
import { MEDIA } from './media.tsx';
import { MEMORY } from './memory.tsx';
import { NETWORK } from './network.tsx';
import { POWER } from './power.tsx';
import { PROCESSES } from './processes/card.tsx';
import type { CardRow } from './row.ts';
import { SENSORS } from './sensors.tsx';

export const CARDS: Readonly<Record<Section | keyof Details | 'media' | 'power', CardRow>> = {
  cpu: CPU,
  memory: MEMORY,
  network: NETWORK,
  disks: DISKS,
  gpu: GPU,
  sensors: SENSORS,
  batteries: BATTERIES,
  drives: DRIVES,
  limits: LIMITS,
  media: MEDIA,
  power: POWER,
  processes: PROCESSES,
};

const ROWS = Object.values(CARDS);

/** The series of all charts together. */
export const CHARTS: Charts = {
  pointsOf: (sample) => new Map(ROWS.flatMap(({ points }) => points?.(sample) ?? [])),
  kept: ROWS.flatMap(({ kept = [] }) => kept),
  sumsOf: (sample) => ROWS.flatMap(({ sums }) => sums?.(sample) ?? []),
};
