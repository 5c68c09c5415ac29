/**
 * The stats of /api/ws at their limit, on both engines: CPU time and memory of many sockets, beside a bare C server that
 * sends byte-identical frames with one `send` each; and the effect of stalled sockets on the others. Option: --quick.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import type { EngineName } from '#src/engines.js';
import { abba, anonymousPssBytesOf, cpuNsOf, median } from './cpu.ts';
import { faultsOf } from './fanout-rounds.ts';
import { compile, type Server, Sink, startProgram, type Window } from './fanout-subjects.ts';
import { BUILD, publish, type Target } from './report.ts';
import { startService } from './service-subject.ts';

const TARGET = '/api/ws';
const FRAME_FILE = path.join(BUILD, 'frame');
const SMALL_BUFFER = 4096;
/** As in the fan-out bench: V8 has compiled, and has collected the garbage of opening. */
const WARM_UP_SECONDS = 12;

interface Plan {
  readonly few: number;
  readonly many: number;
  readonly stalled: number;
  readonly windowSeconds: number;
  readonly stalledSeconds: number;
  readonly rounds: number;
}

/** With the smallest number V8's young generation has reached its size, which is not a cost of a socket. */
function planOf(): Plan {
  const { values } = parseArgs({ allowPositionals: true, options: { quick: { type: 'boolean' } } });
  return values.quick === true
    ? { few: 2000, many: 6000, stalled: 600, windowSeconds: 5.95, stalledSeconds: 5, rounds: 1 }
    : { few: 1000, many: 10_000, stalled: 1000, windowSeconds: 7.95, stalledSeconds: 20, rounds: 1 };
}

const ENGINES = ['uws', 'node'] as const satisfies readonly EngineName[];

type Name = 'floor' | EngineName;

async function startSubject(name: Name): Promise<Server> {
  if (name === 'floor') return await startProgram(compile('floor'), [FRAME_FILE, 'socket']);
  const service = await startService(1, { engine: name });
  return { pid: service.child.pid ?? 0, port: service.port, stop: () => service.stop() };
}

/** Returns the frame of a server: final, text, not masked (RFC 6455, 5.2). */
function frameOf(payload: Buffer): Buffer {
  if (payload.length < 126 || payload.length > 65_535)
    throw new Error(`${payload.length} bytes are not an event`);
  const head = Buffer.from([0x81, 126, 0, 0]);
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}

/** Records one frame of the service for the floor to send. Returns its length in bytes. */
async function recordFrame(): Promise<number> {
  const service = await startService(1, { engine: 'uws' });
  const socket = new WebSocket(`ws://127.0.0.1:${service.port}${TARGET}`);
  try {
    const payload = await new Promise<Buffer>((resolve, reject) => {
      let events = 0;
      socket.on('open', () => socket.send('{"op":"subscribe","data":{"topics":["stats"]}}'));
      socket.on('message', (data: Buffer) => {
        // The message of a tick, which follows the snapshot.
        if (data.toString().startsWith('{"type":"system_stats"') && ++events === 2) resolve(data);
      });
      socket.on('error', reject);
    });
    const frame = frameOf(payload);
    mkdirSync(BUILD, { recursive: true });
    writeFileSync(FRAME_FILE, frame);
    return frame.length;
  } finally {
    socket.terminate();
    await service.stop();
  }
}

interface Round {
  readonly name: Name;
  /** Total CPU time of the process per message. */
  readonly messageUs: number;
  readonly slopeBytes: number;
  readonly spreadMs: number;
  readonly faults: number;
}

async function measure(name: Name, plan: Plan): Promise<Round> {
  const server = await startSubject(name);
  const sink = new Sink(server.port, TARGET);
  try {
    await sink.open(plan.few);
    await sink.window(name === 'floor' ? 2 : WARM_UP_SECONDS);
    const fewBytes = anonymousPssBytesOf(server.pid);
    await sink.open(plan.many);
    await sink.window(name === 'floor' ? 2 : WARM_UP_SECONDS);
    const before = cpuNsOf(server.pid);
    const window = await sink.window(plan.windowSeconds);
    const cpuNs = cpuNsOf(server.pid) - before;
    return {
      name,
      messageUs: cpuNs / window.events / 1000,
      slopeBytes: (anonymousPssBytesOf(server.pid) - fewBytes) / (plan.many - plan.few),
      spreadMs: window.spreadMs,
      faults: faultsOf(window),
    };
  } finally {
    await sink.stop();
    await server.stop();
  }
}

/** Counts the messages of the others while some sockets do not read. */
async function measureStalled(engine: EngineName, plan: Plan): Promise<Window> {
  const server = await startSubject(engine);
  const healthy = new Sink(server.port, TARGET);
  const stalled = new Sink(server.port, TARGET, SMALL_BUFFER);
  try {
    await healthy.open(plan.many - plan.stalled);
    await stalled.open(plan.stalled);
    await stalled.stall(plan.stalled);
    return await healthy.window(plan.stalledSeconds);
  } finally {
    await Promise.all([healthy.stop(), stalled.stop()]);
    await server.stop();
  }
}

/** Returns the median ratio to the floor of the same pass: each pass is in the order A B C C B A. */
function ratioOf(rounds: readonly Round[], name: Name, figure: (round: Round) => number): number {
  const of = (wanted: Name) => rounds.filter((round) => round.name === wanted).map(figure);
  const floors = of('floor');
  return median(of(name).map((value, at) => value / (floors[at] ?? Number.NaN)));
}

function rowOf(rounds: readonly Round[], name: Name): readonly string[] {
  const of = (figure: (round: Round) => number) =>
    median(rounds.filter((round) => round.name === name).map(figure));
  const withRatio = (figure: (round: Round) => number, digits: number) =>
    `${of(figure).toFixed(digits)} (${ratioOf(rounds, name, figure).toFixed(2)} ×)`;
  return [
    name,
    withRatio((round) => round.messageUs, 2),
    (of((round) => round.slopeBytes) / 1024).toFixed(2),
    withRatio((round) => round.spreadMs, 0),
  ];
}

/** The limits are those of uWebSockets.js; for Node's engine the only promise is that no message is missed. */
function targetsOf(
  rounds: readonly Round[],
  beside: ReadonlyMap<EngineName, Window>,
  plan: Plan,
): readonly Target[] {
  const messageUs = ratioOf(rounds, 'uws', (round) => round.messageUs);
  const slopes = rounds.filter(({ name }) => name === 'uws').map(({ slopeBytes }) => slopeBytes);
  return [
    {
      what: `uws: CPU time per message to ${plan.many} sockets`,
      measured: messageUs,
      limit: 1.15,
      unit: '× floor',
    },
    {
      what: `uws: memory, ${plan.few} to ${plan.many}`,
      measured: median(slopes) / 1024,
      limit: 1.5,
      unit: 'KiB per socket',
    },
    ...[...beside].map(([engine, window]) => ({
      what: `${engine}: messages missed by others while ${plan.stalled} sockets do not read`,
      measured: faultsOf(window),
      limit: 0,
      unit: `of ${window.events}`,
    })),
  ];
}

export async function run(): Promise<void> {
  const plan = planOf();
  const frameBytes = await recordFrame();
  const rounds: Round[] = [];
  for (let i = 0; i < plan.rounds; i++)
    for (const name of abba<Name>(['floor', ...ENGINES])) {
      const round = await measure(name, plan);
      rounds.push(round);
      process.stderr.write(`${name}: ${round.messageUs.toFixed(2)} µs per message, ${round.faults} faults\n`);
    }
  const beside = new Map<EngineName, Window>();
  for (const engine of ENGINES) beside.set(engine, await measureStalled(engine, plan));
  publish({
    name: 'sockets',
    columns: ['server', 'µs per message', 'KiB per socket', `first to last at ${plan.many}, ms`],
    rows: (['floor', ...ENGINES] as const).map((name) => rowOf(rounds, name)),
    targets: targetsOf(rounds, beside, plan),
    notes: [
      `One message per second of ${frameBytes} bytes per socket, the frame's head included; CPU time of the server's process.`,
      `Medians of ${2 * plan.rounds} rounds in the order ABBA; ratios of neighbouring rounds.`,
      `Messages torn, doubled or lost in all rounds: ${rounds.reduce((sum, round) => sum + round.faults, 0)}.`,
    ],
    figures: { plan, frameBytes, rounds, beside: Object.fromEntries(beside) },
  });
}
