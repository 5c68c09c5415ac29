/**
 * The fan-out at its limit: CPU time and memory of many subscribers, compared with a bare C server that sends
 * byte-identical events with one `send` each, with nginx and nchan, and with Node's http. Options: --subscribers N, --quick.
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { abba, anonymousPssBytesOf, cpuNsOf, median } from './cpu.ts';
import { recordEvent, Sink, type SubjectName, startSubject, type Window } from './fanout-subjects.ts';
import { hasNginx } from './nginx.ts';
import { publish } from './report.ts';

interface Plan {
  readonly few: number;
  readonly low: number;
  readonly memory: number;
  readonly high: number;
  readonly windowSeconds: number;
  readonly settleSeconds: number;
  readonly rounds: number;
  readonly anchors: readonly SubjectName[];
  readonly withMemory: boolean;
}

function anchors(): readonly SubjectName[] {
  if (hasNginx()) return ['nginx-nchan', 'node-http'];
  process.stderr.write('nginx-nchan is left out: nginx or libnginx-mod-nchan is not installed\n');
  return ['node-http'];
}

function planOf(): Plan {
  const { values } = parseArgs({
    allowPositionals: true,
    options: { subscribers: { type: 'string' }, quick: { type: 'boolean' } },
  });
  const isQuick = values.quick === true;
  const high = Number(values.subscribers ?? (isQuick ? 6000 : 18_000));
  if (!(high >= 3000 && high <= 19_000)) throw new Error('--subscribers takes 3000 to 19000');
  return {
    few: 1000,
    low: 2000,
    memory: Math.min(15_000, high),
    high,
    windowSeconds: isQuick ? 2.95 : 5.95,
    settleSeconds: isQuick ? 1 : 2,
    rounds: isQuick ? 1 : 2,
    anchors: isQuick ? [] : anchors(),
    withMemory: !isQuick,
  };
}

interface Level {
  readonly cpuNs: number;
  readonly memoryBytes: number;
  readonly window: Window;
}

interface Round {
  readonly name: SubjectName;
  /** Total CPU time of the process per event, at the smallest number of subscribers. */
  readonly fewUs: number;
  /** Cost of one more event between `low` and `high` subscribers. */
  readonly marginalUs: number;
  /** Memory of one more subscriber between the smallest number and `high`, all in one process. */
  readonly slopeBytes: number;
  readonly spreadMs: number;
  readonly bytesPerEvent: number;
  readonly faults: number;
}

/**
 * After this the process is in the state of a long-running service: V8 has compiled, and has collected the garbage of
 * opening many connections, which it does 8 to 20 s after that.
 */
const WARM_UP_SECONDS = 25;

/** V8's young generation varies from 1 to 16 MiB, which is 0.2 KiB per subscriber between two runs. */
const MEMORY_ROUNDS = 5;

const faultsOf = ({ torn, doubled, missed, alone, lost }: Window) => torn + doubled + missed + alone + lost;

async function measure(name: SubjectName, plan: Plan): Promise<Round> {
  const server = await startSubject(name);
  const sink = new Sink(server.port);
  const levelAt = async (count: number): Promise<Level> => {
    await sink.open(count);
    await sink.window(name === 'floor' || count === plan.low ? plan.settleSeconds : WARM_UP_SECONDS);
    const before = cpuNsOf(server.pid);
    const window = await sink.window(plan.windowSeconds);
    const cpuNs = cpuNsOf(server.pid) - before;
    return { cpuNs, memoryBytes: anonymousPssBytesOf(server.pid), window };
  };
  try {
    const few = await levelAt(plan.few);
    const low = await levelAt(plan.low);
    const high = await levelAt(plan.high);
    const events = high.window.events - low.window.events;
    return {
      name,
      fewUs: few.cpuNs / few.window.events / 1000,
      marginalUs: (high.cpuNs - low.cpuNs) / events / 1000,
      slopeBytes: (high.memoryBytes - few.memoryBytes) / (plan.high - plan.few),
      spreadMs: high.window.spreadMs,
      bytesPerEvent: high.window.bytes / high.window.events,
      faults: [few, low, high].reduce((sum, level) => sum + faultsOf(level.window), 0),
    };
  } finally {
    await sink.stop();
    await server.stop();
  }
}

/** The memory of a fresh process after it has served `count` subscribers for a while. */
async function memoryAt(name: SubjectName, count: number): Promise<number> {
  const server = await startSubject(name);
  const sink = new Sink(server.port);
  try {
    await sink.open(count);
    await sink.window(12);
    return anonymousPssBytesOf(server.pid);
  } finally {
    await sink.stop();
    await server.stop();
  }
}

/** Bytes per additional subscriber, between `few` and `memory` of them. */
async function measureMemory(name: SubjectName, plan: Plan): Promise<number> {
  const few = await memoryAt(name, plan.few);
  return ((await memoryAt(name, plan.memory)) - few) / (plan.memory - plan.few);
}

function note(round: Round): void {
  const { name, fewUs, marginalUs, spreadMs, faults } = round;
  process.stderr.write(
    `${name}: ${fewUs.toFixed(2)} µs per event, marginal ${marginalUs.toFixed(2)} µs, ` +
      `first to last ${spreadMs.toFixed(0)} ms, ${faults} faults\n`,
  );
}

/** The ratio of each round of the service to the floor's neighbouring round. */
function ratios(rounds: readonly Round[], figure: (round: Round) => number): readonly number[] {
  const floors = rounds.filter(({ name }) => name === 'floor').map(figure);
  const services = rounds.filter(({ name }) => name === 'service').map(figure);
  return services.map((value, at) => value / (floors[at] ?? Number.NaN));
}

function rowOf(rounds: readonly Round[], name: SubjectName, slopes: readonly number[]): readonly string[] {
  const mine = rounds.filter((round) => round.name === name);
  const of = (figure: (round: Round) => number, digits: number) => median(mine.map(figure)).toFixed(digits);
  return [
    name,
    of((round) => round.fewUs, 2),
    of((round) => round.marginalUs, 2),
    slopes.length === 0 ? of((round) => round.slopeBytes, 0) : median(slopes).toFixed(0),
    of((round) => round.spreadMs, 0),
    of((round) => round.bytesPerEvent, 0),
  ];
}

export async function run(): Promise<void> {
  const plan = planOf();
  const eventBytes = await recordEvent();
  const rounds: Round[] = [];
  const measureAndNote = async (name: SubjectName) => {
    const round = await measure(name, plan);
    rounds.push(round);
    note(round);
  };
  for (let i = 0; i < plan.rounds; i++)
    for (const name of abba<SubjectName>(['floor', 'service'])) await measureAndNote(name);
  for (const name of plan.anchors) await measureAndNote(name);
  const marginal = median(ratios(rounds, (round) => round.marginalUs));
  const few = median(ratios(rounds, (round) => round.fewUs));
  const names = [...new Set(rounds.map(({ name }) => name))];
  const slopes: number[] = [];
  if (plan.withMemory)
    for (let i = 0; i < MEMORY_ROUNDS; i++) slopes.push(await measureMemory('service', plan));
  const slope = median(slopes);
  const targets = [
    {
      what: `marginal CPU time, ${plan.low} to ${plan.high}`,
      measured: marginal,
      limit: 1.08,
      unit: '× floor',
    },
    { what: `total CPU time at ${plan.few}`, measured: few, limit: 1.25, unit: '× floor' },
    {
      what: `memory, ${plan.few} to ${plan.memory}`,
      measured: slope / 1024,
      limit: 0.9,
      unit: 'KiB per subscriber',
    },
  ];
  publish({
    name: 'fanout',
    columns: [
      'server',
      `µs per event at ${plan.few}`,
      `marginal µs per event, ${plan.low} to ${plan.high}`,
      'bytes per subscriber',
      `first to last at ${plan.high}, ms`,
      'bytes per event',
    ],
    rows: names.map((name) => rowOf(rounds, name, name === 'service' ? slopes : [])),
    targets: targets.filter(({ measured }) => !Number.isNaN(measured)),
    notes: [
      `One event per second of ${eventBytes} bytes per subscriber${slopes.length > 0 ? "; the service's memory is that of fresh processes" : ''}.`,
      `Medians of ${2 * plan.rounds} rounds in the order ABBA; ratios of neighbouring rounds.`,
      `Events torn, doubled or lost in all rounds: ${rounds.reduce((sum, round) => sum + round.faults, 0)}.`,
    ],
    figures: { plan, eventBytes, rounds, marginal, few, slopes },
  });
}
