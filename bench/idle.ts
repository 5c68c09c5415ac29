/**
 * The cost of the service without subscribers (reads of kernel files, CPU time, memory) with its history and without,
 * that of the history beside one subscriber, and the time of its start, on both engines. With `--beside FOLDER`, a built
 * checkout of another commit, that one's service is measured in the same run.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { abba, anonymousPssBytesOf, cpuNsOf, median } from './cpu.ts';
import {
  BARE,
  ENGINES,
  MAIN,
  nameOf,
  offNameOf,
  SERVICES,
  SUBSCRIBED,
  SUBSCRIBED_OFF,
  startWatched,
  subjectPath,
  type Watched,
} from './idle-subjects.ts';
import { publish, type Target } from './report.ts';
import { findFreePort, stopChild, writeConfig } from './service-subject.ts';
import { type Start, timeStart } from './start-time.ts';

const QUIET_SECONDS = 120;
/** V8 collects the garbage of the start 10 to 20 s later, which is a cost of the start. */
const SETTLE_MS = 30_000;
const STARTS = 20;
const MIB = 2 ** 20;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Attaches strace to a running process for `seconds`: its system calls that name or read a file of /proc or /sys. */
async function traceReads(
  pid: number,
  seconds: number,
): Promise<{ calls: number; reads: readonly string[] }> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-idle-'));
  const tracer = spawn('strace', ['-f', '-ff', '-y', '-o', path.join(folder, 't'), '-p', String(pid)], {
    stdio: 'ignore',
  });
  try {
    await sleep(seconds * 1000);
    if (tracer.exitCode !== null) throw new Error('strace ended early');
    await stopChild(tracer, 'SIGTERM');
    const lines = readdirSync(folder).flatMap((file) =>
      readFileSync(path.join(folder, file), 'latin1').split('\n').filter(Boolean),
    );
    return { calls: lines.length, reads: lines.filter((line) => /[<"]\/(?:proc|sys)[/">]/.test(line)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Idle {
  readonly cpuPercent: number;
  readonly anonymousBytes: number;
}

/** Returns CPU time as a share of one core, and memory at the end. */
async function watchIdle(pids: readonly number[], seconds: number): Promise<readonly Idle[]> {
  const before = pids.map(cpuNsOf);
  await sleep(seconds * 1000);
  return pids.map((pid, at) => ({
    cpuPercent: ((cpuNsOf(pid) - (before[at] ?? 0)) / (seconds * 1e9)) * 100,
    anonymousBytes: anonymousPssBytesOf(pid),
  }));
}

async function timeStarts(): Promise<ReadonlyMap<string, Start>> {
  const port = await findFreePort();
  const started = [...SERVICES].filter(([, { isStartKnown }]) => isStartKnown === undefined);
  const configs = started.map(([name, { engine, main = MAIN }]) => {
    const config = writeConfig(port, 2, engine);
    return { name, args: [main, '--config', config.path], remove: () => config.remove() };
  });
  const subjects = [{ name: BARE, args: [subjectPath('bare-server'), String(port)] }, ...configs];
  const starts = new Map(subjects.map(({ name }) => [name, [] as Start[]]));
  try {
    for (let round = 0; round < STARTS / 2; round++)
      for (const { name, args } of abba(subjects)) starts.get(name)?.push(await timeStart(args, port));
  } finally {
    for (const config of configs) config.remove();
  }
  const medianOf = (of: readonly Start[]): Start => ({
    wallMs: median(of.map(({ wallMs }) => wallMs)),
    cpuMs: median(of.map(({ cpuMs }) => cpuMs)),
  });
  return new Map([...starts].map(([name, of]) => [name, medianOf(of)]));
}

/** Measures two processes of each, started in the order ABBA and idle together, and one of each engine under strace. */
async function measureIdle() {
  const [traced, watched]: [Watched[], Watched[]] = [[], []];
  try {
    for (const engine of ENGINES) traced.push(await startWatched(offNameOf(engine)));
    for (const name of abba([BARE, ...SERVICES.keys()])) watched.push(await startWatched(name));
    await sleep(SETTLE_MS);
    const [all, traces] = await Promise.all([
      watchIdle(
        watched.map(({ pid }) => pid),
        QUIET_SECONDS,
      ),
      Promise.all(traced.map(({ pid }) => traceReads(pid, QUIET_SECONDS))),
    ]);
    const idle = new Map(
      [BARE, ...SERVICES.keys()].map((name) => {
        const mine = all.filter((_, at) => watched[at]?.name === name);
        const of = (figure: (one: Idle) => number) => median(mine.map(figure));
        const [cpuPercent, anonymousBytes] = [of((one) => one.cpuPercent), of((one) => one.anonymousBytes)];
        return [name, { cpuPercent, anonymousBytes }];
      }),
    );
    return { traces, idle };
  } finally {
    for (const { stop } of [...traced, ...watched]) await stop();
  }
}

function rowOf(name: string, starts: ReadonlyMap<string, Start>, idle: ReadonlyMap<string, Idle>) {
  const { wallMs = Number.NaN, cpuMs = Number.NaN } = starts.get(name) ?? {};
  const { cpuPercent = Number.NaN, anonymousBytes = Number.NaN } = idle.get(name) ?? {};
  const bare = starts.get(BARE);
  const ratio = (value: number, floor = Number.NaN) =>
    `${value.toFixed(0)} ms (${(value / floor).toFixed(2)} ×)`;
  return [
    name,
    (anonymousBytes / MIB).toFixed(2),
    cpuPercent.toFixed(4),
    ...(Number.isNaN(wallMs) ? ['', ''] : [ratio(wallMs, bare?.wallMs), ratio(cpuMs, bare?.cpuMs)]),
  ];
}

const target = (what: string, measured = Number.NaN, limit = Number.NaN, unit = ''): Target => ({
  what,
  measured,
  limit,
  unit,
});

type Traces = Awaited<ReturnType<typeof measureIdle>>['traces'];

/** Returns the targets for the CPU time that the history adds to the same service without it. */
function historyTargets(idle: ReadonlyMap<string, Idle>) {
  const pairs = [
    ...ENGINES.map((engine) => [nameOf(engine), offNameOf(engine)] as const),
    [SUBSCRIBED, SUBSCRIBED_OFF] as const,
  ];
  return pairs.map(([on, off]) =>
    target(
      `${on}: CPU for the history, percent of a core`,
      (idle.get(on)?.cpuPercent ?? Number.NaN) - (idle.get(off)?.cpuPercent ?? Number.NaN),
      0.02,
      '%',
    ),
  );
}

function targetsOf(starts: ReadonlyMap<string, Start>, idle: ReadonlyMap<string, Idle>, traces: Traces) {
  const bare = { start: starts.get(BARE)?.wallMs ?? Number.NaN, ...idle.get(BARE) };
  const engines = ENGINES.flatMap((engine, at) => {
    const name = nameOf(engine);
    const one = idle.get(offNameOf(engine));
    const overBare = ((one?.anonymousBytes ?? Number.NaN) - (bare.anonymousBytes ?? Number.NaN)) / MIB;
    const startRatio = (starts.get(name)?.wallMs ?? Number.NaN) / bare.start;
    return [
      target(
        `${engine}, history off: reads of /proc and /sys in ${QUIET_SECONDS} s`,
        traces[at]?.reads.length,
        0,
        'calls',
      ),
      target(
        `${engine}, history off: CPU, percent of a core`,
        one?.cpuPercent,
        (bare.cpuPercent ?? Number.NaN) + 0.03,
        '%',
      ),
      target(`${engine}, history off: anonymous memory above bare Node`, overBare, 5, 'MiB'),
      target(`${engine}: start to first answer`, startRatio, 1.4, '× bare Node'),
    ];
  });
  return [...engines, ...historyTargets(idle)];
}

export async function run(): Promise<void> {
  // These make each start of Node slower, the bare one too, and so improve the ratio: reading certificates
  // takes 35 ms.
  for (const name of ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS']) delete process.env[name];
  const starts = await timeStarts();
  const { traces, idle } = await measureIdle();
  const calls = ENGINES.map((engine, at) => `${traces[at]?.calls} (${engine})`).join(', ');
  publish({
    name: 'idle',
    columns: ['what', 'anonymous memory, MiB', 'CPU, % of a core', 'first answer', 'CPU time until then'],
    rows: [...idle.keys()].map((name) => rowOf(name, starts, idle)),
    targets: targetsOf(starts, idle, traces),
    notes: [
      `Memory and CPU of bare Node are those of a timer, its start is that of an HTTP server with a constant answer.`,
      `Medians of ${STARTS} starts and of two idle processes each, in ABBA order.`,
      'The history reads once every 10 s without subscribers.',
      `Memory ${SETTLE_MS / 1000 + QUIET_SECONDS} s after the start; system calls in total under strace: ${calls}.`,
    ],
    figures: { starts: Object.fromEntries(starts), idle: Object.fromEntries(idle), traces },
  });
}
