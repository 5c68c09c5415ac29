/**
 * A machine with 601 network interfaces, 1,500 mounts of containers and 10,000 processes: how long a reading occupies the
 * event loop while a detailed stream runs, and how fast the service answers during that time.
 */
import '../helpers/service/dead-buses.ts';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { ask } from '../helpers/clients/http.ts';
import { checkTime } from '../helpers/limits.ts';
import { percentile } from '../helpers/service/media.ts';
import { startProbed } from '../helpers/service/probed.ts';

const CABLES = 300;
const MOUNTS = 1500;
const PROCESSES = 10_000;
/** Time after which they exit on their own. */
const LIFE_SECONDS = 170;
const SECONDS = 30;
const MAX_HOLD_MS = 5;
const MAX_STATUS_P99_MS = 10;

/** $1 is an empty folder of the test. */
const SET_UP = `
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
ip link set lo up
i=0; while [ $i -lt ${CABLES} ]; do i=$((i + 1)); echo "link add v$i type veth peer name w$i"; done | ip -batch -
mkdir "$1/lower" "$1/upper"
i=0; while [ $i -lt ${MOUNTS} ]; do
  i=$((i + 1)); mkdir "$1/m$i"; mount -t overlay overlay -o "lowerdir=$1/upper:$1/lower" "$1/m$i"
done`;
const UNSHARE = ['--net', '--mount', 'sh', '-c'];
const SLEEPERS = path.resolve(import.meta.dirname, '../../../../bench/native/sleepers.c');
/** Set on the big machine, where it is the folder of the test. */
const FOLDER = process.env['HOSTWIRE_BIG_MACHINE'];

interface Detail {
  readonly network: { readonly interfaces: readonly object[] };
  readonly processes: { readonly count: number } | null;
}

function reasonAgainstMachine(folder: string): string | false {
  if (process.getuid?.() !== 0) return 'needs root, for a network and a mount namespace';
  const { status, stderr, error } = spawnSync('unshare', [...UNSHARE, SET_UP, 'sh', folder], {
    encoding: 'utf8',
  });
  return status !== 0 && `needs veth and overlay in namespaces: ${error?.message ?? stderr}`;
}

async function startSleepers(t: Test, folder: string): Promise<void> {
  const program = path.join(folder, 'sleepers');
  const { status } = spawnSync('gcc', ['-O2', '-static', '-o', program, SLEEPERS], { stdio: 'inherit' });
  if (status !== 0) throw new Error('sleepers.c was not compiled');
  const child = spawn(program, [String(PROCESSES), String(LIFE_SECONDS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(async () => {
    child.stdin.end();
    await once(child, 'exit');
  });
  const [line] = await once(child.stdout, 'data');
  t.equal(String(line), 'ready\n', `${PROCESSES} processes`);
}

/** Milliseconds of GET /api/status, 40 times per second. */
async function probeStatus(port: number, seconds: number): Promise<readonly number[]> {
  const times: number[] = [];
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    const begunAt = performance.now();
    await ask(port, '/api/status');
    times.push(performance.now() - begunAt);
    await sleep(25);
  }
  return times.sort((a, b) => a - b);
}

async function measure(t: Test, folder: string): Promise<void> {
  await startSleepers(t, folder);
  const service = await startProbed({ stats: { stream_interval_seconds: 1 } });
  t.teardown(() => service.stop());
  const stream = await EventStream.open(service.port, '/api/stream?detail=1');
  let latest: Detail | undefined;
  const reading = (async () => {
    // The contract's shape, which other tests check.
    while (!stream.isEnded) latest = payloadOf(await stream.next(20_000)) as unknown as Detail;
  })();
  reading.catch(() => undefined);
  // The first readings open files and find out what there is.
  await sleep(5000);
  const first = await service.readHolds();
  const times = await probeStatus(service.port, SECONDS);
  const { longestMs, longestCpuMs, holds } = await service.readHolds();
  stream.close();
  // If this machine's other work had the CPU in the longest hold, the CPU time is right; if a prober ran too, the
  // elapsed time is.
  const longest = Math.min(longestMs, longestCpuMs);
  const p99 = percentile(times, 0.99);
  t.comment(
    `figure: longest hold of the event loop ${longest.toFixed(1)} ms in ${SECONDS} s with detail, ` +
      `${Math.min(first.longestMs, first.longestCpuMs).toFixed(1)} ms in the first 5 s; ` +
      `/api/status p99 ${p99.toFixed(1)} ms, at most ${(times.at(-1) ?? Number.NaN).toFixed(1)} ms`,
  );
  t.equal(latest?.network.interfaces.length, 2 * CABLES + 1);
  t.ok((latest?.processes?.count ?? 0) > PROCESSES, `${latest?.processes?.count} processes`);
  t.ok(holds >= SECONDS, `${holds} callbacks were measured`);
  checkTime(t, longest, MAX_HOLD_MS, 'the longest hold of the event loop');
  checkTime(t, p99, MAX_STATUS_P99_MS, 'p99 of /api/status');
}

async function prove(folder: string | undefined, skip: string | false): Promise<void> {
  // Not before: it prints a plan of its own.
  const { default: t } = await import('tap');
  t.setTimeout(280_000);
  t.test('601 interfaces, 1,500 mounts, 10,000 processes', { skip }, async (t) => {
    if (folder !== undefined) await measure(t, folder);
  });
}

if (FOLDER !== undefined) await prove(FOLDER, false);
else {
  const folder = mkdtempSync(path.join(tmpdir(), 'hostwire-big-'));
  try {
    const skip = reasonAgainstMachine(folder);
    if (skip !== false) await prove(undefined, skip);
    else {
      const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
      const child = spawn('unshare', [...UNSHARE, `${SET_UP}\nshift; exec "$@"`, 'sh', folder, ...command], {
        stdio: 'inherit',
        env: { ...process.env, HOSTWIRE_BIG_MACHINE: folder },
      });
      const [code] = await once(child, 'exit');
      process.exitCode = code ?? 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
