/** One round of the fan-out bench: a fresh server, and its figures with few, more and many subscribers. */
import path from 'node:path';
import { anonymousPssBytesOf, cpuNsOf, median } from './cpu.ts';
import {
  checkMethod,
  type ServiceName,
  Sink,
  type SubjectName,
  startSubject,
  type Window,
} from './fanout-subjects.ts';
import { ROOT } from './report.ts';
import { statusP99Ms } from './status.ts';

export interface Levels {
  readonly few: number;
  readonly middle: number;
  readonly many: number;
}

export interface RoundPlan {
  readonly levels: Levels;
  readonly windowSeconds: number;
  /** Before each window of a server that V8 runs. */
  readonly warmUpSeconds: number;
}

export interface Round {
  readonly name: SubjectName;
  /** Total CPU time of the process per event, at each level. */
  readonly us: Readonly<Record<keyof Levels, number>>;
  /** CPU time of one more event between the fewest and the most subscribers. */
  readonly marginalUs: number;
  /** Memory of one more subscriber between the same, all in one process. */
  readonly slopeBytes: number;
  readonly spreadMs: number;
  /** Of GET /api/status while the most subscribers are served; NaN for the floor, which has nothing but the stream. */
  readonly statusMs: number;
  readonly bytesPerEvent: number;
  readonly faults: number;
}

interface Level {
  readonly cpuNs: number;
  readonly memoryBytes: number;
  readonly window: Window;
}

/** A C program needs no time for compiled code and collected garbage, only for its connections. */
const SETTLE_SECONDS = 1.5;
/** Longer than the garbage of opening many connections takes to be collected and returned to the system. */
const MEMORY_SECONDS = 25;
/**
 * What a subscriber keeps, without the garbage of its opening, which V8 collects when it likes, and which is up to 2 KiB
 * per subscriber then. V8's young generation, of 1 to 16 MiB, is held at its smallest size.
 */
const MEMORY_ARGS = [
  '--max-semi-space-size=1',
  '--expose-gc',
  '--import',
  path.join(ROOT, 'build/ts/bench/subjects/collect.js'),
];

export const faultsOf = ({ torn, doubled, missed, alone, lost }: Window) =>
  torn + doubled + missed + alone + lost;

const isNative = (name: SubjectName) => name === 'floor' || name === 'nginx-nchan';

export async function measureRound(name: SubjectName, plan: RoundPlan): Promise<Round> {
  const { levels, windowSeconds, warmUpSeconds } = plan;
  const server = await startSubject(name);
  const sink = new Sink(server.port);
  const measureAt = async (count: number): Promise<Level> => {
    await sink.open(count);
    await sink.window(isNative(name) ? SETTLE_SECONDS : warmUpSeconds);
    const before = cpuNsOf(server.pid);
    const window = await sink.window(windowSeconds);
    const cpuNs = cpuNsOf(server.pid) - before;
    return { cpuNs, memoryBytes: anonymousPssBytesOf(server.pid), window };
  };
  try {
    const few = await measureAt(levels.few);
    const middle = await measureAt(levels.middle);
    const many = await measureAt(levels.many);
    checkMethod(name, server.pid);
    const [meanwhile, statusMs] = await Promise.all([
      sink.window(windowSeconds),
      name === 'floor' ? Number.NaN : statusP99Ms(server.port, windowSeconds),
    ]);
    const usOf = ({ cpuNs, window }: Level) => cpuNs / window.events / 1000;
    return {
      name,
      us: { few: usOf(few), middle: usOf(middle), many: usOf(many) },
      marginalUs: (many.cpuNs - few.cpuNs) / (many.window.events - few.window.events) / 1000,
      slopeBytes: (many.memoryBytes - few.memoryBytes) / (levels.many - levels.few),
      spreadMs: many.window.spreadMs,
      statusMs,
      bytesPerEvent: many.window.bytes / many.window.events,
      faults: [few.window, middle.window, many.window, meanwhile].reduce(
        (sum, one) => sum + faultsOf(one),
        0,
      ),
    };
  } finally {
    await sink.stop();
    await server.stop();
  }
}

/** The memory of a fresh process that has served `count` subscribers for a while. */
async function memoryAt(name: SubjectName, count: number): Promise<number> {
  const server = await startSubject(name, MEMORY_ARGS);
  const sink = new Sink(server.port);
  try {
    await sink.open(count);
    await sink.window(MEMORY_SECONDS);
    return anonymousPssBytesOf(server.pid);
  } finally {
    await sink.stop();
    await server.stop();
  }
}

/** Bytes per subscriber of each, between two fresh processes; the median of the rounds. All processes run at once. */
export async function measureMemory(
  names: readonly ServiceName[],
  [few, many]: readonly [few: number, many: number],
  rounds: number,
): Promise<ReadonlyMap<SubjectName, readonly number[]>> {
  const slopes = new Map<SubjectName, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++)
    await Promise.all(
      names.map(async (name) => {
        const [least, most] = await Promise.all([memoryAt(name, few), memoryAt(name, many)]);
        slopes.get(name)?.push((most - least) / (many - few));
      }),
    );
  return slopes;
}

/** The median over the rounds of `name`. */
export function medianOf(
  rounds: readonly Round[],
  name: SubjectName,
  figure: (round: Round) => number,
): number {
  return median(rounds.filter((round) => round.name === name).map(figure));
}

/** The median ratio of each round of `name` to the nearest round of the floor. */
export function ratioOf(
  rounds: readonly Round[],
  name: SubjectName,
  figure: (round: Round) => number,
): number {
  const ratios = rounds.flatMap((round, at) => {
    if (round.name !== name) return [];
    const floors = rounds.flatMap((other, place) => (other.name === 'floor' ? [place] : []));
    const [nearest = -1] = floors.sort((a, b) => Math.abs(a - at) - Math.abs(b - at));
    const floor = rounds[nearest];
    return floor === undefined ? [] : [figure(round) / figure(floor)];
  });
  return median(ratios);
}
