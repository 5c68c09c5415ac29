/**
 * The fan-out at its limit: hostwire on either engine, and on Node's with either method of the native writer, beside a
 * bare C server that sends the events with one `send` each, nginx with nchan, and Node's http. Options: --subscribers N,
 * --quick.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { openNativeHost } from '#src/host/native.js';
import { abba, median } from './cpu.ts';
import {
  type Levels,
  measureMemory,
  measureRound,
  medianOf,
  type Round,
  type RoundPlan,
  ratioOf,
} from './fanout-rounds.ts';
import { recordEvent, type ServiceName, type SubjectName } from './fanout-subjects.ts';
import { hasNginx } from './nginx.ts';
import { publish, type Target } from './report.ts';

interface Plan extends RoundPlan {
  readonly services: readonly ServiceName[];
  readonly anchors: readonly SubjectName[];
  readonly memoryRounds: number;
}

/** The numbers of subscribers of the two processes whose memory is compared. */
const MEMORY_LEVELS = [1000, 15_000] as const;

function leaveOut(name: string, reason: string): readonly never[] {
  process.stderr.write(`${name} is left out: ${reason}\n`);
  return [];
}

function services(): readonly ServiceName[] {
  const hasRing = openNativeHost().streams?.findMethod() === 'io_uring';
  const ring = hasRing
    ? ['node, io_uring' as const]
    : leaveOut('node, io_uring', 'the kernel does not permit it');
  return ['uws', 'node, send', ...ring];
}

function anchors(): readonly SubjectName[] {
  const nginx = hasNginx()
    ? ['nginx-nchan' as const]
    : leaveOut('nginx-nchan', 'nginx or libnginx-mod-nchan is not installed');
  return [...nginx, 'node-http'];
}

function planOf(): Plan {
  const { values } = parseArgs({
    allowPositionals: true,
    options: { subscribers: { type: 'string' }, quick: { type: 'boolean' } },
  });
  const isQuick = values.quick === true;
  const many = Number(values.subscribers ?? (isQuick ? 6000 : 18_000));
  if (!(many >= 3000 && many <= 19_000)) throw new Error('--subscribers takes 3000 to 19000');
  return {
    levels: { few: 1000, middle: many / 2, many },
    windowSeconds: isQuick ? 2.95 : 4.95,
    warmUpSeconds: isQuick ? 4 : 10,
    services: services(),
    anchors: isQuick ? [] : anchors(),
    memoryRounds: isQuick ? 0 : 3,
  };
}

/** The floor between every two others, so that each has it for a neighbour; the whole in the order ABBA. */
function orderOf(names: readonly SubjectName[]): readonly SubjectName[] {
  return abba(names.flatMap((name, at) => (at % 2 === 0 ? (['floor', name] as const) : [name])));
}

function note(round: Round): void {
  const { name, us, marginalUs, spreadMs, statusMs, faults } = round;
  process.stderr.write(
    `${name}: ${us.few.toFixed(2)} µs per event, marginal ${marginalUs.toFixed(2)} µs, ` +
      `first to last ${spreadMs.toFixed(0)} ms, status ${statusMs.toFixed(1)} ms, ${faults} faults\n`,
  );
}

type Slopes = ReadonlyMap<SubjectName, readonly number[]>;

function kibOf(rounds: readonly Round[], slopes: Slopes, name: SubjectName): number {
  const fresh = slopes.get(name) ?? [];
  return (fresh.length > 0 ? median(fresh) : medianOf(rounds, name, ({ slopeBytes }) => slopeBytes)) / 1024;
}

function rowOf(rounds: readonly Round[], slopes: Slopes, name: SubjectName): readonly string[] {
  const withRatio = (figure: (round: Round) => number, digits: number) =>
    `${medianOf(rounds, name, figure).toFixed(digits)} (${ratioOf(rounds, name, figure).toFixed(2)} ×)`;
  const statusMs = medianOf(rounds, name, (round) => round.statusMs);
  return [
    name,
    withRatio(({ us }) => us.few, 2),
    withRatio(({ us }) => us.middle, 2),
    withRatio(({ us }) => us.many, 2),
    withRatio(({ marginalUs }) => marginalUs, 2),
    withRatio(({ spreadMs }) => spreadMs, 0),
    kibOf(rounds, slopes, name).toFixed(2),
    Number.isNaN(statusMs) ? '' : statusMs.toFixed(1),
    medianOf(rounds, name, ({ bytesPerEvent }) => bytesPerEvent).toFixed(0),
  ];
}

interface Limits {
  readonly marginal: number;
  readonly few: number;
  readonly kib: number;
  readonly spread?: number;
  readonly statusMs?: number;
}

const LIMITS: Readonly<Record<ServiceName, Limits>> = {
  // Not more than what was measured before there was a second engine, on 2026-11-21.
  uws: { marginal: 1.22, few: 1.33, kib: 0.84 },
  'node, send': { marginal: 1, few: 1.15, kib: 0.1, spread: 1, statusMs: 10 },
  'node, io_uring': { marginal: 0.9, few: 1.15, kib: 0.1, spread: 1, statusMs: 10 },
};

function targetsOf(
  rounds: readonly Round[],
  slopes: Slopes,
  levels: Levels,
  name: ServiceName,
): readonly Target[] {
  const { marginal, few, kib, spread, statusMs } = LIMITS[name];
  const floors = '× floor';
  const target = (what: string, measured: number, limit: number | undefined, unit: string) =>
    limit === undefined || Number.isNaN(measured)
      ? []
      : [{ what: `${name}: ${what}`, measured, limit, unit }];
  return [
    ...target(
      'marginal CPU time',
      ratioOf(rounds, name, (round) => round.marginalUs),
      marginal,
      floors,
    ),
    ...target(
      `CPU time at ${levels.few}`,
      ratioOf(rounds, name, ({ us }) => us.few),
      few,
      floors,
    ),
    ...target('memory', kibOf(rounds, slopes, name), kib, 'KiB per subscriber'),
    ...target(
      'first to last',
      ratioOf(rounds, name, (round) => round.spreadMs),
      spread,
      floors,
    ),
    ...target(
      'p99 of GET /api/status',
      medianOf(rounds, name, (round) => round.statusMs),
      statusMs,
      'ms',
    ),
  ];
}

export async function run(): Promise<void> {
  const plan = planOf();
  const { levels } = plan;
  const eventBytes = await recordEvent();
  const rounds: Round[] = [];
  for (const name of orderOf([...plan.services, ...plan.anchors])) {
    const round = await measureRound(name, plan);
    rounds.push(round);
    note(round);
  }
  const slopes = await measureMemory(plan.services, MEMORY_LEVELS, plan.memoryRounds);
  const names: readonly SubjectName[] = ['floor', ...plan.services, ...plan.anchors];
  publish({
    name: 'fanout',
    columns: [
      'server',
      `µs per event at ${levels.few}`,
      `at ${levels.middle}`,
      `at ${levels.many}`,
      `marginal µs per event, ${levels.few} to ${levels.many}`,
      `first to last at ${levels.many}, ms`,
      'KiB per subscriber',
      `p99 of GET /api/status at ${levels.many}, ms`,
      'bytes per event',
    ],
    rows: names.map((name) => rowOf(rounds, slopes, name)),
    targets: plan.services.flatMap((name) => targetsOf(rounds, slopes, levels, name)),
    notes: [
      `One event per second per subscriber; the floor's has ${eventBytes} bytes.`,
      'Medians of rounds in the order ABBA, and of the ratios of each round to its neighbouring round of the floor.',
      `Events torn, doubled or lost in all rounds: ${rounds.reduce((sum, round) => sum + round.faults, 0)}.`,
    ],
    figures: { plan, eventBytes, rounds, slopes: Object.fromEntries(slopes) },
  });
}
