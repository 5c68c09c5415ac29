/**
 * A detailed stream seen by strace: no program is started, no process is forked, and only the files that
 * docs/evidence/performance.md lists are opened repeatedly, no more often than it says.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { EventStream, payloadOf } from '../../helpers/clients/event-stream.ts';
import { AMD_CARD, pci } from '../../helpers/machine/gpu-tree.ts';
import { makeMachine, type Tree } from '../../helpers/machine/tree.ts';
import { startService } from '../../helpers/service/service.ts';

const SECONDS = process.env['HOSTWIRE_FULL'] === '1' ? 120 : 12;
const CALLS = 'open,openat,openat2,creat,execve,execveat,fork,vfork,clone,clone3';
const INTERVAL_S = 1;

/** The paths that may be opened while a stream runs, and how often each at most; docs/evidence/performance.md says why. */
const EXCEPTIONS: readonly { readonly what: RegExp; readonly everySeconds: number }[] = [
  { what: /^\/proc\/\d+\/(?:stat|cmdline|status|task)/, everySeconds: INTERVAL_S / 2 },
  { what: /^\/proc$/, everySeconds: INTERVAL_S },
  { what: /^\/proc\/\d+\/fd(?:info)?(?:\/|$)/, everySeconds: INTERVAL_S / 2 },
  { what: /^\/proc\/self\/status$/, everySeconds: 2.5 },
  { what: /^\/proc\/self\/stat$/, everySeconds: 5 },
  { what: /^\/proc\/spl\/kstat\/zfs\/arcstats$/, everySeconds: 60 },
  { what: /^\/proc\/net\/(?:route|fib_trie|if_inet6|ipv6_route)$/, everySeconds: 5 },
  { what: /^\/sys\/class\/power_supply(?:\/|$)/, everySeconds: 5 },
  { what: /^\/sys\/class\/net(?:\/|$)/, everySeconds: 5 },
  { what: /^\/sys\/class\/hwmon\/?$/, everySeconds: 5 },
  { what: /^\/sys\/class\/(?:hwmon|thermal|powercap)(?:\/|$)/, everySeconds: 30 },
  { what: /^\/sys\/(?:bus\/pci\/devices|class\/drm|class\/devfreq)(?:\/|$)/, everySeconds: 30 },
  { what: /^\/sys\/block(?:\/|$)/, everySeconds: 10 },
  { what: /^\/sys\/(?:class\/block|dev\/block)(?:\/|$)/, everySeconds: 60 },
  { what: /^\/dev\/disk\/by-label$/, everySeconds: 60 },
  { what: /^\/sys\/devices\/system\/cpu(?:\/|$)/, everySeconds: 60 },
  { what: /^\/proc\/sys\/vm\/overcommit_memory$/, everySeconds: 3600 },
];

interface Seen {
  /** Lines of calls that start programs or processes. */
  readonly starts: readonly string[];
  /** How often each path was opened. */
  readonly opens: ReadonlyMap<string, number>;
  readonly threads: number;
}

/** The path that a line of strace -y opens, with the folder it is relative to; undefined for another call. */
function openedPath(line: string): string | undefined {
  const match =
    /^(?:openat2?|open|creat)\((?:(?:AT_FDCWD|\d+)(?:<(?<folder>[^>]*)>)?, )?"(?<name>[^"]*)"/.exec(line);
  const name = match?.groups?.['name'];
  if (name === undefined) return undefined;
  return path.resolve(match?.groups?.['folder'] ?? '/', name);
}

/** This machine's files, and in place of devices it may lack two chips, a battery and a graphics processor. */
const TREE: Tree = {
  ...Object.fromEntries(
    ['block', 'dev', 'devices', 'class/net', 'class/block'].map((name) => [
      `sys/${name}`,
      { link: `/sys/${name}` },
    ]),
  ),
  ...pci({ ...AMD_CARD, address: '0000:03:00.0' }),
  'sys/class/hwmon/hwmon0/name': 'chip0\n',
  'sys/class/hwmon/hwmon0/temp1_input': '40000\n',
  'sys/class/hwmon/hwmon0/fan1_input': '900\n',
  'sys/class/hwmon/hwmon1/name': 'coretemp\n',
  'sys/class/hwmon/hwmon1/temp1_input': '50000\n',
  'sys/class/power_supply/BAT0/type': 'Battery\n',
  'sys/class/power_supply/BAT0/uevent': 'POWER_SUPPLY_CAPACITY=50\n',
};

/** Attaches to every thread of `pid` for `seconds`; returns the paths under `root`. */
async function trace(pid: number, seconds: number, root: string): Promise<Seen> {
  const folder = mkdtempSync(path.join(tmpdir(), 'hostwire-strace-'));
  const options = ['-ff', '-y', '-s', '300', '-e', `trace=${CALLS}`, '-o', path.join(folder, 't')];
  const tracer = spawn('strace', [...options, '-p', String(pid)], { stdio: 'ignore' });
  const ended = once(tracer, 'exit');
  try {
    await sleep(seconds * 1000);
    if (tracer.exitCode !== null) throw new Error(`strace ended with ${tracer.exitCode}`);
    tracer.kill('SIGINT');
    await ended;
    const files = readdirSync(folder);
    const lines = files.flatMap((file) => readFileSync(path.join(folder, file), 'latin1').split('\n'));
    const opens = new Map<string, number>();
    for (const full of lines.map(openedPath)) {
      if (full === undefined) continue;
      const opened = full.startsWith(`${root}/`) ? full.slice(root.length) : full;
      opens.set(opened, (opens.get(opened) ?? 0) + 1);
    }
    const starts = lines.filter(
      (line) => /^(?:execve|execveat|v?fork|clone3?)\(/.test(line) && !/\bCLONE_THREAD\b/.test(line),
    );
    return { starts, opens, threads: files.length };
  } finally {
    tracer.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The objection to opening it that often; undefined where it is allowed. */
function complaintOf(opened: string, times: number): string | undefined {
  const exception = EXCEPTIONS.find(({ what }) => what.test(opened));
  if (exception === undefined) return `${opened}: opened ${times} times, and no exception`;
  // One more at either end of the time.
  const most = Math.floor(SECONDS / exception.everySeconds) + 2;
  return times <= most ? undefined : `${opened}: opened ${times} times, at most ${most}`;
}

const why =
  spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0 ? undefined : 'strace cannot trace here';

t.setTimeout((SECONDS + 240) * 1000);

t.test(
  `[3.detail-quiet] ${SECONDS} s of a detailed stream start nothing and open only the listed files`,
  { skip: why ?? false, timeout: (SECONDS + 240) * 1000 },
  async (t) => {
    const machine = makeMachine(t, TREE);
    const service = await startService({
      config: {
        stats: { stream_interval_seconds: INTERVAL_S },
        host: { sys: path.join(machine.root, 'sys') },
      },
    });
    t.teardown(() => service.stop('SIGKILL'));
    const stream = await EventStream.openIn(t, service.port, '/api/stream?detail=1');
    // The first samples open the files that stay open, and search for devices.
    for (let i = 0; i < 4; i++) payloadOf(await stream.next());
    const seen = await trace(service.pid, SECONDS, machine.root);
    let last: Readonly<Record<string, unknown>> = {};
    for (let i = 0; i < SECONDS - 3; i++) last = payloadOf(await stream.next());
    t.match(
      last,
      { sensors: { length: 3 }, batteries: { length: 1 }, gpu: Object },
      'there was a lot to read',
    );
    t.strictSame(seen.starts, [], 'no program and no process was started');
    t.ok(seen.threads > 1, 'all threads were watched', { threads: seen.threads });
    const processes = [...seen.opens.keys()].filter((opened) => /^\/proc\/\d+\/stat$/.test(opened));
    t.ok(processes.length > 0, 'and their calls were understood: processes were read');
    const complaints = [...seen.opens].flatMap(([opened, times]) => complaintOf(opened, times) ?? []);
    t.strictSame(complaints, [], 'each open is on the list, and no more often than it says');
    const others = [...seen.opens].filter(([opened]) => !opened.startsWith('/proc/'));
    const total = others.reduce((sum, [, times]) => sum + times, 0);
    t.comment(
      `figure: ${SECONDS} s of a detailed stream: ${seen.starts.length} programs or processes started, ${processes.length} processes read, ${(total / SECONDS).toFixed(1)} other opens per second`,
    );
  },
);
