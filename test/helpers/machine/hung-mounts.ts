/**
 * Filesystems that hang, visible only in one mount namespace: no process outside it can get stuck in them.
 * hung_mount.c makes them; it needs the right to mount (root, or user namespaces).
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import type { Readable } from 'node:stream';
import { programPath, whyNoProgram } from '../native/program.ts';
import type { Scope } from '../scope.ts';

/** A group of filesystems that hang, or answer, together. It starts hanging, and has never answered before. */
export interface HungMounts {
  readonly points: readonly string[];
  /** Makes them answer: 1,000 blocks of 4 KiB, 250 of them free, 200 available. */
  answer(): Promise<void>;
  hang(): Promise<void>;
}

export interface MountSpace {
  mountHung(count: number): Promise<HungMounts>;
  /** Starts a program that sees the mounts. `pid` is that of the program itself. */
  start(command: string, args: readonly string[], options?: SpawnOptions): ChildProcess;
}

const isRoot = process.getuid?.() === 0;

/** The reason why no mount namespace can be made here; undefined if one can. */
export function whyNoMountSpace(): string | undefined {
  if (process.platform !== 'linux') return 'mount namespaces are Linux';
  const noProgram = whyNoProgram('hung_mount');
  if (noProgram !== false) return noProgram;
  const script = 'test -c /dev/fuse && test -r /dev/fuse && mount -t tmpfs none /mnt';
  const result = spawnSync('unshare', [...unshareFlags(), 'sh', '-c', script], { encoding: 'utf8' });
  if (result.status === 0) return undefined;
  return `no right to mount FUSE filesystems here (${(result.stderr || String(result.error ?? 'no /dev/fuse')).trim()})`;
}

function unshareFlags(): readonly string[] {
  return ['--mount', '--propagation', 'private', ...(isRoot ? [] : ['--map-root-user'])];
}

/** Returns a function that reads the next line of a program's output; it rejects if the output ends first. */
function lineReader(output: Readable): () => Promise<string> {
  const lines = readline.createInterface({ input: output })[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the program ended');
    return value;
  };
}

/** Ends a program by closing its input, and waits for its end. */
async function endByInput(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.stdin?.end();
  await ended;
}

/** A mount namespace for the length of the test. Requires that whyNoMountSpace() returns undefined. */
export async function openMountSpace(t: Scope): Promise<MountSpace> {
  const program = programPath('hung_mount');
  const folder = mkdtempSync(path.join(tmpdir(), 'hostwire-hung-'));
  // Holds the namespace until its input ends.
  const holder = spawn('unshare', [...unshareFlags(), 'sh', '-c', 'echo ready; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const servers: ChildProcess[] = [];
  t.teardown(async () => {
    for (const child of [...servers, holder]) await endByInput(child);
    rmSync(folder, { recursive: true, force: true });
  });
  await lineReader(holder.stdout)();

  // cd: a process that enters the namespace starts in its root.
  const enter = [
    '--target',
    String(holder.pid),
    '--mount',
    ...(isRoot ? [] : ['--user', '--preserve-credentials']),
  ];
  const start = (command: string, args: readonly string[], options: SpawnOptions = {}) =>
    spawn(
      'nsenter',
      [
        ...enter,
        'sh',
        '-c',
        'cd "$1" && shift && exec "$@"',
        'sh',
        String(options.cwd ?? process.cwd()),
        command,
        ...args,
      ],
      options,
    );

  let made = 0;
  const mountHung = async (count: number): Promise<HungMounts> => {
    const points = Array.from({ length: count }, () => path.join(folder, `hang${made++}`));
    for (const point of points) mkdirSync(point);
    const server = start(program, points, { stdio: ['pipe', 'pipe', 'inherit'] });
    servers.push(server);
    const { stdin, stdout } = server;
    if (stdin === null || stdout === null) throw new Error('no pipes');
    const nextLine = lineReader(stdout);
    await nextLine();
    const send = async (word: string) => {
      stdin.write(`${word}\n`);
      await nextLine();
    };
    return { points, answer: () => send('answer'), hang: () => send('hang') };
  };
  return { mountHung, start };
}
