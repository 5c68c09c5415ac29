/**
 * The fan-out at its limit: hostwire on either engine, with either method of the native writer, beside a bare C server
 * that sends the events with one `send` each, nginx with nchan, and Node's http. Options: --subscribers N, --quick.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { openNativeHost } from '#src/host/native.js';
import { median } from './cpu.ts';
import {
  type Figure,
  type Level,
  marginalUs,
  measurePair,
  medianOf,
  type Pair,
  type Round,
  ratioOf,
} from './fanout-rounds.ts';
import { recordEvent, type ServiceName, type SubjectName } from './fanout-subjects.ts';
import { hasNginx } from './nginx.ts';
import { publish, type Target } from './report.ts';
import { measureMemory } from './subscriber-memory.ts';

interface Plan {
  /** From the fewest subscribers to the most. */
  readonly levels: readonly Level[];
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
    ? (['uws, io_uring', 'node, io_uring'] as const)
    : leaveOut('io_uring', 'the kernel does not permit it');
  return ['uws, send', 'node, send', ...ring];
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
    levels: [
      // V8 has compiled what a tick needs after some 20 of them.
      { subscribers: 1000, passes: isQuick ? 1 : 2, warmUpSeconds: isQuick ? 5 : 30 },
      { subscribers: many / 2, passes: 1, warmUpSeconds: isQuick ? 2 : 4 },
      { subscribers: many, passes: isQuick ? 1 : 2, warmUpSeconds: isQuick ? 2 : 8 },
    ],
    services: services(),
    anchors: isQuick ? [] : anchors(),
    memoryRounds: isQuick ? 0 : 2,
  };
}

/** Shortens the measurement of subjects that are only shown for comparison. */
const shorten = ({ subscribers, warmUpSeconds }: Level): Level => ({
  subscribers,
  warmUpSeconds: Math.ceil(warmUpSeconds / 2),
  passes: 1,
});

function note({ rounds, statusMs }: Pair, name: SubjectName): void {
  for (const { name: one, subscribers, us, spreadMs, faults } of rounds)
    process.stderr.write(
      `${one}, ${subscribers}: ${us.toFixed(2)} µs per event, first to last ${spreadMs.toFixed(0)} ms, ${faults} faults\n`,
    );
  process.stderr.write(`${name}: p99 of GET /api/status ${statusMs.toFixed(1)} ms\n`);
}

/** The rounds, and the memory of fresh processes; the numbers of subscribers from the fewest to the most. */
interface Results {
  readonly rounds: readonly Round[];
  readonly slopes: ReadonlyMap<SubjectName, readonly number[]>;
  readonly statusMs: ReadonlyMap<SubjectName, number>;
  readonly levels: readonly [few: number, middle: number, many: number];
}

const usOf: Figure = ({ us }) => us;

function kibOf({ rounds, slopes, levels: [few, , many] }: Results, name: SubjectName): number {
  const fresh = slopes.get(name) ?? [];
  if (fresh.length > 0) return median(fresh) / 1024;
  const bytesAt = (subscribers: number) =>
    medianOf(rounds, name, subscribers, ({ memoryBytes }) => memoryBytes);
  return (bytesAt(many) - bytesAt(few)) / (many - few) / 1024;
}

function marginalOf({ rounds, levels: [few, , many] }: Results, name: SubjectName) {
  const figure = marginalUs(rounds, few);
  return { us: medianOf(rounds, name, many, figure), ratio: ratioOf(rounds, name, many, figure) };
}

const withRatio = (value: number, ratio: number, digits: number) =>
  `${value.toFixed(digits)} (${ratio.toFixed(2)} ×)`;

function rowOf(results: Results, name: SubjectName): readonly string[] {
  const { rounds, levels } = results;
  const [, , many] = levels;
  const cell = (subscribers: number, figure: Figure, digits: number) =>
    withRatio(
      medianOf(rounds, name, subscribers, figure),
      ratioOf(rounds, name, subscribers, figure),
      digits,
    );
  const marginal = marginalOf(results, name);
  const statusMs = results.statusMs.get(name);
  return [
    name,
    ...levels.map((subscribers) => cell(subscribers, usOf, 2)),
    withRatio(marginal.us, marginal.ratio, 2),
    cell(many, (round) => round.spreadMs, 0),
    kibOf(results, name).toFixed(2),
    statusMs?.toFixed(1) ?? '',
    medianOf(rounds, name, many, ({ bytesPerEvent }) => bytesPerEvent).toFixed(0),
  ];
}

/** Limits of every engine and method: by the number of subscribers from the fewest to the most, then the rest. */
const LIMITS = { us: [1.15, 1, 0.99], kib: 0.1, spread: 1, statusMs: 5 } as const;

function targetsOf(results: Results, name: ServiceName): readonly Target[] {
  const { rounds, levels } = results;
  const [, , many] = levels;
  const target = (what: string, measured: number, limit: number, unit: string): Target => ({
    what: `${name}: ${what}`,
    measured,
    limit,
    unit,
  });
  const ratio = (subscribers: number, figure: Figure) => ratioOf(rounds, name, subscribers, figure);
  return [
    ...LIMITS.us.map((limit, at) => {
      const subscribers = levels[at] ?? 0;
      return target(`CPU time at ${subscribers}`, ratio(subscribers, usOf), limit, '× floor');
    }),
    target('memory', kibOf(results, name), LIMITS.kib, 'KiB per subscriber'),
    target(
      `first to last at ${many}`,
      ratio(many, ({ spreadMs }) => spreadMs),
      LIMITS.spread,
      '× floor',
    ),
    target(
      `p99 of GET /api/status at ${many}`,
      results.statusMs.get(name) ?? Number.NaN,
      LIMITS.statusMs,
      'ms',
    ),
  ];
}

export async function run(): Promise<void> {
  const plan = planOf();
  const { services, anchors } = plan;
  const eventBytes = await recordEvent();
  const rounds: Round[] = [];
  const statusMs = new Map<SubjectName, number>();
  for (const name of [...services, ...anchors]) {
    const isAnchor = anchors.includes(name);
    const pair = await measurePair(name, isAnchor ? plan.levels.map(shorten) : plan.levels);
    rounds.push(...pair.rounds);
    statusMs.set(name, pair.statusMs);
    note(pair, name);
  }
  const slopes = await measureMemory(services, MEMORY_LEVELS, plan.memoryRounds);
  const [few = 0, middle = 0, many = 0] = plan.levels.map(({ subscribers }) => subscribers);
  const results: Results = { rounds, slopes, statusMs, levels: [few, middle, many] };
  const faults = rounds.reduce((sum, round) => sum + round.faults, 0);
  publish({
    name: 'fanout',
    columns: [
      'server',
      `µs per event at ${few}`,
      `at ${middle}`,
      `at ${many}`,
      `marginal µs per event, ${few} to ${many}`,
      `first to last at ${many}, ms`,
      'KiB per subscriber',
      `p99 of GET /api/status at ${many}, ms`,
      'bytes per event',
    ],
    rows: (['floor', ...services, ...anchors] as const).map((name) => rowOf(results, name)),
    targets: services.flatMap((name) => targetsOf(results, name)),
    notes: [
      `One event per second per subscriber; the floor's has ${eventBytes} bytes.`,
      'Medians of rounds in the order ABBA, and of the ratios of each round to the round of the floor beside it.',
      `Events torn, doubled or lost in all rounds: ${faults}.`,
    ],
    figures: {
      plan,
      eventBytes,
      rounds,
      slopes: Object.fromEntries(slopes),
      statusMs: Object.fromEntries(statusMs),
    },
  });
}
