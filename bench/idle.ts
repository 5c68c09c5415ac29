/** The cost of the service without subscribers (reads of kernel files, CPU time, memory), and the time of its start. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { abba, cpuNsOf, median, pssBytesOf } from './cpu.ts';
import { publish, ROOT, type Target } from './report.ts';
import { findFreePort, type ServiceProcess, startService, writeConfig } from './service-subject.ts';

const QUIET_SECONDS = 120;
/** V8 collects the garbage of the start 10 to 20 s later, which is a cost of the start. */
const SETTLE_MS = 30_000;
const STARTS = 20;
const MIB = 2 ** 20;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const pidOf = (child: ChildProcess) => child.pid ?? 0;
const subjectPath = (name: string) => path.join(ROOT, `build/ts/bench/subjects/${name}.js`);

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

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
    await stopChild(tracer);
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
  readonly pssBytes: number;
}

/** CPU time as a share of one core, and memory at the end. */
async function watchIdle(pids: readonly number[], seconds: number): Promise<readonly Idle[]> {
  const before = pids.map(cpuNsOf);
  await sleep(seconds * 1000);
  return pids.map((pid, at) => ({
    cpuPercent: ((cpuNsOf(pid) - (before[at] ?? 0)) / (seconds * 1e9)) * 100,
    pssBytes: pssBytesOf(pid),
  }));
}

/** Whether `port` answers /api/status with 200; false while nothing listens. */
function answersStatus(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.write('GET /api/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    });
    socket.once('data', (answer) => {
      socket.destroy();
      resolve(answer.toString('latin1').startsWith('HTTP/1.1 200'));
    });
    socket.once('error', () => resolve(false));
  });
}

/** Milliseconds from the start of `node ARGS` to its first answer. */
async function timeStart(args: readonly string[], port: number): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  try {
    while (!(await answersStatus(port))) {
      if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`);
      if (performance.now() - began > 20_000) throw new Error(`${args.join(' ')} never answered`);
      await sleep(1);
    }
    return performance.now() - began;
  } finally {
    await stopChild(child);
  }
}

async function timeStarts(): Promise<{ bare: number[]; service: number[] }> {
  const times = { bare: [] as number[], service: [] as number[] };
  const port = await findFreePort();
  const config = writeConfig(port, 2);
  try {
    for (let round = 0; round < STARTS / 2; round++)
      for (const which of abba(['bare', 'service'] as const)) {
        const args =
          which === 'bare'
            ? [subjectPath('bare-server'), String(port)]
            : [path.join(ROOT, 'dist/main.js'), '--config', config.path];
        times[which].push(await timeStart(args, port));
      }
  } finally {
    config.remove();
  }
  return times;
}

async function measureIdle(traced: ServiceProcess, watched: ServiceProcess) {
  const bare = spawn(process.execPath, [subjectPath('bare-timer')], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await new Promise((resolve) => bare.stdout.once('data', resolve));
    await sleep(SETTLE_MS);
    const pids = [pidOf(bare), pidOf(watched.child)];
    const [trace, [bareIdle, serviceIdle]] = await Promise.all([
      traceReads(pidOf(traced.child), QUIET_SECONDS),
      watchIdle(pids, QUIET_SECONDS),
    ]);
    if (bareIdle === undefined || serviceIdle === undefined) throw new Error('no process was watched');
    return { trace, bareIdle, serviceIdle };
  } finally {
    await stopChild(bare);
  }
}

const target = (what: string, measured: number, limit: number, unit: string): Target => ({
  what,
  measured,
  limit,
  unit,
});

export async function run(): Promise<void> {
  const starts = await timeStarts();
  const services: ServiceProcess[] = [];
  try {
    const traced = await startService(2);
    services.push(traced);
    const watched = await startService(2);
    services.push(watched);
    const { trace, bareIdle, serviceIdle } = await measureIdle(traced, watched);
    const startMs = { bare: median(starts.bare), service: median(starts.service) };
    publish({
      name: 'idle',
      columns: [],
      rows: [],
      targets: [
        target(`reads of /proc and /sys in ${QUIET_SECONDS} s`, trace.reads.length, 0, 'calls'),
        target('CPU, percent of a core', serviceIdle.cpuPercent, bareIdle.cpuPercent + 0.03, '%'),
        target('memory (PSS)', serviceIdle.pssBytes / MIB, bareIdle.pssBytes / MIB + 14, 'MiB'),
        target('start to first answer', startMs.service, 2 * startMs.bare, 'ms'),
      ],
      notes: [
        `A bare Node with a timer used ${bareIdle.cpuPercent.toFixed(4)} % of a core, hostwire ${serviceIdle.cpuPercent.toFixed(4)} %; PSS ${(bareIdle.pssBytes / MIB).toFixed(1)} and ${(serviceIdle.pssBytes / MIB).toFixed(1)} MiB.`,
        `A bare Node HTTP server answered after ${startMs.bare.toFixed(0)} ms, hostwire after ${startMs.service.toFixed(0)} ms (medians of ${STARTS} starts each, in ABBA order).`,
        `Measured from ${SETTLE_MS / 1000} s after the start; under strace, ${trace.calls} system calls in total.`,
      ],
      figures: { starts, startMs, bareIdle, serviceIdle, calls: trace.calls, reads: trace.reads },
    });
  } finally {
    for (const service of services) await service.stop();
  }
}
