/** The gain of a second event loop on the same port: CPU time, time from first to last, and memory, on two cores. */
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { abba, anonymousPssBytesOf, cpuNsOf, median } from './cpu.ts';
import { EVENT_FILE, recordEvent, Sink } from './fanout-subjects.ts';
import { publish, ROOT } from './report.ts';
import { findFreePort } from './service-subject.ts';

const SUBSCRIBERS = 10_000;
const SETTLE_SECONDS = 4;
const WINDOW_SECONDS = 5.95;

/** A line of bench/subjects/loops.ts. */
interface Tick {
  readonly ms: number;
  /** Per loop. */
  readonly events: readonly number[];
}

interface Measured {
  readonly usAnEvent: number;
  /** From the tick to the last send, as the server saw it. */
  readonly sentMs: number;
}

interface Round {
  readonly loops: number;
  readonly emptyMib: number;
  readonly fullMib: number;
  readonly share: readonly number[];
  /** With subscribers that read on the same two cores, and with subscribers that leave events in their buffers. */
  readonly reading: Measured;
  readonly waiting: Measured;
  readonly receivedMs: number;
  readonly faults: number;
}

class LoopsServer {
  readonly port: number;
  readonly pid: number;
  readonly #child: ChildProcess;
  #ticks: Tick[] = [];

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.pid = child.pid ?? 0;
    this.port = port;
  }

  static async start(loops: number): Promise<LoopsServer> {
    const program = path.join(ROOT, 'build/ts/bench/subjects/loops.js');
    const child = spawn(
      process.execPath,
      [program, EVENT_FILE, String(loops), String(await findFreePort())],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const lines = createInterface({ input: child.stdout });
    const port = await new Promise<number>((resolve, reject) => {
      lines.once('line', (line) => resolve(Number(line)));
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    });
    const server = new LoopsServer(child, port);
    // Every line after the first one is a tick.
    lines.on('line', (line) => server.#ticks.push(JSON.parse(line) as Tick));
    return server;
  }

  /** Runs `run`; returns its cost and the duration of each event. */
  async during<T>(
    run: () => Promise<T>,
  ): Promise<readonly [result: T, measured: Measured, ticks: readonly Tick[]]> {
    this.#ticks = [];
    const before = cpuNsOf(this.pid);
    const result = await run();
    const cpuNs = cpuNsOf(this.pid) - before;
    const ticks = this.#ticks;
    const events = ticks.flatMap((tick) => tick.events).reduce((sum, count) => sum + count, 0);
    return [result, { usAnEvent: cpuNs / events / 1000, sentMs: median(ticks.map(({ ms }) => ms)) }, ticks];
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await ended;
  }
}

const sleep = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, 1000 * seconds));
const mibOf = (pid: number) => anonymousPssBytesOf(pid) / 2 ** 20;

async function measure(loops: number): Promise<Round> {
  const server = await LoopsServer.start(loops);
  const sink = new Sink(server.port);
  try {
    await sleep(1);
    const emptyMib = mibOf(server.pid);
    await sink.open(SUBSCRIBERS);
    await sink.window(SETTLE_SECONDS);
    const [window, reading, ticks] = await server.during(() => sink.window(WINDOW_SECONDS));
    const fullMib = mibOf(server.pid);
    // Some 30 events of 340 bytes: no subscriber's buffer is full by then.
    await sink.stall(SUBSCRIBERS);
    await sleep(1);
    const [, waiting] = await server.during(() => sleep(WINDOW_SECONDS));
    const { torn, doubled, missed, alone, lost } = window;
    return {
      loops,
      emptyMib,
      fullMib,
      share: ticks.at(-1)?.events ?? [],
      reading,
      waiting,
      receivedMs: window.spreadMs,
      faults: torn + doubled + missed + alone + lost,
    };
  } finally {
    await sink.stop();
    await server.stop();
  }
}

function rowOf(rounds: readonly Round[], loops: number): readonly string[] {
  const mine = rounds.filter((round) => round.loops === loops);
  const of = (figure: (round: Round) => number, digits: number) => median(mine.map(figure)).toFixed(digits);
  return [
    String(loops),
    of(({ reading }) => reading.usAnEvent, 2),
    of(({ reading }) => reading.sentMs, 0),
    of(({ receivedMs }) => receivedMs, 0),
    of(({ waiting }) => waiting.usAnEvent, 2),
    of(({ waiting }) => waiting.sentMs, 0),
    of(({ emptyMib }) => emptyMib, 1),
    of(({ fullMib }) => fullMib, 1),
  ];
}

export async function run(): Promise<void> {
  const eventBytes = await recordEvent();
  const rounds: Round[] = [];
  for (const loops of abba([1, 2])) {
    const round = await measure(loops);
    rounds.push(round);
    process.stderr.write(`${JSON.stringify(round)}\n`);
  }
  const shares = rounds.filter(({ loops }) => loops === 2).map(({ share }) => share.join(' and '));
  publish({
    name: 'second-loop',
    columns: [
      'event loops',
      'µs per event',
      'tick to last send, ms',
      'first to last received, ms',
      'µs per event, no reader',
      'tick to last send, no reader, ms',
      'MiB, no subscriber',
      `MiB, ${SUBSCRIBERS} subscribers`,
    ],
    rows: [1, 2].map((loops) => rowOf(rounds, loops)),
    notes: [
      `One event per second of ${eventBytes} bytes to ${SUBSCRIBERS} subscribers on loopback; medians of two rounds in the order ABBA.`,
      `The kernel distributed the subscribers as ${shares.join(', ')}.`,
      `Events torn, doubled, missed or lost: ${rounds.reduce((sum, { faults }) => sum + faults, 0)}.`,
    ],
    figures: { rounds },
  });
}
