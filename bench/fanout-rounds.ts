/**
 * The rounds of the fan-out bench. All servers live from the beginning to the end, each with its subscribers, and are
 * stopped except the one that is measured: so every figure has those of the others within half a minute, and code is
 * compiled and garbage collected before the first one counts.
 */
import process from 'node:process';
import { abba, anonymousPssBytesOf, cpuNsOf, median } from './cpu.ts';
import {
  checkMethod,
  type Server,
  Sink,
  type SubjectName,
  startSubject,
  type Window,
} from './fanout-subjects.ts';
import { statusP99Ms } from './status.ts';

export interface Level {
  readonly subscribers: number;
  /** In the order ABBA. */
  readonly passes: number;
  readonly warmUpSeconds: number;
}

export interface Plan {
  /** From the fewest subscribers to the most. */
  readonly levels: readonly Level[];
  readonly windowSeconds: number;
}

/** One window of one server. */
export interface Round {
  readonly name: SubjectName;
  readonly subscribers: number;
  /** Counts the halves of the ABBA passes: one round per server in each. */
  readonly half: number;
  /** CPU time of the process per event. */
  readonly us: number;
  readonly memoryBytes: number;
  readonly spreadMs: number;
  /** Of GET /api/status meanwhile; NaN for the floor, which has nothing but the stream. */
  readonly statusMs: number;
  readonly bytesPerEvent: number;
  readonly faults: number;
}

const SETTLE_SECONDS = 1;
const STATUS_SECONDS = 1.95;

export const faultsOf = ({ torn, doubled, missed, alone, lost }: Window) =>
  torn + doubled + missed + alone + lost;

interface Contender {
  readonly name: SubjectName;
  readonly server: Server;
  readonly sink: Sink;
}

function setPaused({ server }: Contender, isPaused: boolean): void {
  server.setPaused?.(isPaused);
  process.kill(server.pid, isPaused ? 'SIGSTOP' : 'SIGCONT');
}

async function measureRound(
  contender: Contender,
  plan: Plan,
  subscribers: number,
  half: number,
): Promise<Round> {
  const { name, server, sink } = contender;
  setPaused(contender, false);
  await sink.window(SETTLE_SECONDS);
  const before = cpuNsOf(server.pid);
  const window = await sink.window(plan.windowSeconds);
  const cpuNs = cpuNsOf(server.pid) - before;
  const memoryBytes = anonymousPssBytesOf(server.pid);
  const [meanwhile, statusMs] = await Promise.all([
    sink.window(STATUS_SECONDS),
    name === 'floor' ? Number.NaN : statusP99Ms(server.port, STATUS_SECONDS),
  ]);
  setPaused(contender, true);
  return {
    name,
    subscribers,
    half,
    us: cpuNs / window.events / 1000,
    memoryBytes,
    spreadMs: window.spreadMs,
    statusMs,
    bytesPerEvent: window.bytes / window.events,
    faults: faultsOf(window) + faultsOf(meanwhile),
  };
}

async function measureLevel(
  contenders: readonly Contender[],
  plan: Plan,
  level: Level,
): Promise<readonly Round[]> {
  const { subscribers, passes, warmUpSeconds } = level;
  for (const contender of contenders) {
    setPaused(contender, false);
    await contender.sink.open(subscribers);
  }
  await Promise.all(contenders.map(({ sink }) => sink.window(warmUpSeconds)));
  for (const { name, server } of contenders) checkMethod(name, server.pid);
  for (const contender of contenders) setPaused(contender, true);
  const rounds: Round[] = [];
  for (let pass = 0; pass < passes; pass++)
    for (const [at, contender] of abba(contenders).entries()) {
      const half = 2 * pass + (at < contenders.length ? 0 : 1);
      const round = await measureRound(contender, plan, subscribers, half);
      rounds.push(round);
      const { name, us, spreadMs, statusMs, faults } = round;
      process.stderr.write(
        `${name}, ${subscribers}: ${us.toFixed(2)} µs per event, first to last ${spreadMs.toFixed(0)} ms, ` +
          `status ${statusMs.toFixed(1)} ms, ${faults} faults\n`,
      );
    }
  return rounds;
}

export async function measureRounds(names: readonly SubjectName[], plan: Plan): Promise<readonly Round[]> {
  const contenders: Contender[] = [];
  try {
    for (const name of names) {
      const server = await startSubject(name);
      contenders.push({ name, server, sink: new Sink(server.port) });
    }
    const rounds: Round[] = [];
    for (const level of plan.levels) rounds.push(...(await measureLevel(contenders, plan, level)));
    return rounds;
  } finally {
    for (const contender of contenders) {
      setPaused(contender, false);
      await contender.sink.stop();
      await contender.server.stop();
    }
  }
}

export type Figure = (round: Round) => number;

const roundsOf = (rounds: readonly Round[], name: SubjectName, subscribers: number) =>
  rounds.filter((round) => round.name === name && round.subscribers === subscribers);

export function medianOf(
  rounds: readonly Round[],
  name: SubjectName,
  subscribers: number,
  figure: Figure,
): number {
  return median(roundsOf(rounds, name, subscribers).map(figure));
}

/** The median ratio of each round of `name` to the floor's of the same half. */
export function ratioOf(
  rounds: readonly Round[],
  name: SubjectName,
  subscribers: number,
  figure: Figure,
  floorFigure: Figure = figure,
): number {
  const floors = roundsOf(rounds, 'floor', subscribers);
  return median(
    roundsOf(rounds, name, subscribers).map((round) => {
      const floor = floors.find(({ half }) => half === round.half);
      return floor === undefined ? Number.NaN : figure(round) / floorFigure(floor);
    }),
  );
}

/** CPU time of one more event between `few` and the subscribers of the round. */
export function marginalUs(rounds: readonly Round[], name: SubjectName, few: number): Figure {
  const fewUs = medianOf(rounds, name, few, ({ us }) => us);
  return ({ us, subscribers }) => (us * subscribers - fewUs * few) / (subscribers - few);
}
