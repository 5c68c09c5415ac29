/**
 * The rounds of the fan-out bench. Each server lives together with a floor, and both take turns of a few seconds: one is
 * stopped while the other one is measured. So a figure and its floor are seconds apart, on a machine whose speed changes
 * within minutes, and code is compiled and garbage collected before the first one counts.
 */
import process from 'node:process';
import { anonymousPssBytesOf, cpuNsOf, median } from './cpu.ts';
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

/** One turn of one server. */
export interface Round {
  readonly name: SubjectName;
  /** The server that it takes turns with the floor, or that it is itself. */
  readonly pair: SubjectName;
  readonly subscribers: number;
  /** Counts the halves of the ABBA passes: one round of each in each. */
  readonly half: number;
  /** CPU time of the process per event. */
  readonly us: number;
  readonly memoryBytes: number;
  readonly spreadMs: number;
  readonly bytesPerEvent: number;
  readonly faults: number;
}

export interface Pair {
  readonly rounds: readonly Round[];
  /** The 99th percentile of GET /api/status while the most subscribers are served. */
  readonly statusMs: number;
}

/**
 * A turn and a half in which a server is stopped must be less than the 10 s after which the kernel asks peers whether
 * they are alive: that would be so many probes in one moment that some are dropped, and connections with them.
 */
const SETTLE_SECONDS = 0.8;
const WINDOW_SECONDS = 2.95;
const STATUS_SECONDS = 4.95;

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

type Turn = Pick<Round, 'pair' | 'subscribers' | 'half'>;

async function measureRound(contender: Contender, turn: Turn): Promise<Round> {
  const { name, server, sink } = contender;
  setPaused(contender, false);
  await sink.window(SETTLE_SECONDS);
  const before = cpuNsOf(server.pid);
  const window = await sink.window(WINDOW_SECONDS);
  const cpuNs = cpuNsOf(server.pid) - before;
  const memoryBytes = anonymousPssBytesOf(server.pid);
  setPaused(contender, true);
  return {
    ...turn,
    name,
    us: cpuNs / window.events / 1000,
    memoryBytes,
    spreadMs: window.spreadMs,
    bytesPerEvent: window.bytes / window.events,
    faults: faultsOf(window),
  };
}

async function measureLevel(contenders: readonly Contender[], pair: SubjectName, level: Level) {
  const { subscribers, passes, warmUpSeconds } = level;
  for (const contender of contenders) await contender.sink.open(subscribers);
  await Promise.all(contenders.map(({ sink }) => sink.window(warmUpSeconds)));
  for (const { name, server } of contenders) checkMethod(name, server.pid);
  for (const contender of contenders) setPaused(contender, true);
  const rounds: Round[] = [];
  for (let half = 0; half < 2 * passes; half++)
    for (const contender of half % 2 === 0 ? contenders : contenders.toReversed())
      rounds.push(await measureRound(contender, { pair, subscribers, half }));
  for (const contender of contenders) setPaused(contender, false);
  return rounds;
}

export async function measurePair(name: SubjectName, levels: readonly Level[]): Promise<Pair> {
  const contenders: Contender[] = [];
  try {
    for (const one of ['floor', name] as const) {
      const server = await startSubject(one);
      contenders.push({ name: one, server, sink: new Sink(server.port) });
    }
    const rounds: Round[] = [];
    for (const level of levels) rounds.push(...(await measureLevel(contenders, name, level)));
    const [floor, subject] = contenders;
    if (floor === undefined || subject === undefined) throw new Error('a pair has two servers');
    setPaused(floor, true);
    const [, statusMs] = await Promise.all([
      subject.sink.window(STATUS_SECONDS),
      statusP99Ms(subject.server.port, STATUS_SECONDS),
    ]);
    return { rounds, statusMs };
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

/** Returns the median ratio of the rounds of `name` to the floor's beside them. */
export function ratioOf(
  rounds: readonly Round[],
  name: SubjectName,
  subscribers: number,
  figure: Figure,
): number {
  const floors = roundsOf(rounds, 'floor', subscribers);
  return median(
    roundsOf(rounds, name, subscribers).map((round) => {
      const floor = floors.find(({ half, pair }) => half === round.half && pair === round.pair);
      return floor === undefined ? Number.NaN : figure(round) / figure(floor);
    }),
  );
}

/** Returns the CPU time of one more event between `few` and the subscribers of the round. */
export function marginalUs(rounds: readonly Round[], few: number): Figure {
  return ({ name, pair, us, subscribers }) => {
    const mine = rounds.filter((round) => round.pair === pair);
    const fewUs = medianOf(mine, name, few, (round) => round.us);
    return (us * subscribers - fewUs * few) / (subscribers - few);
  };
}
