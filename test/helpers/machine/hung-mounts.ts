/**
 * Filesystems that hang, seen only by the processes of one mount namespace: nothing outside it can be stuck in them.
 * They are made by hung_mount.c; it takes the right to mount (root, or user namespaces).
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import type { Readable } from 'node:stream';
import { programPath, whyNoProgram } from '../native/program.ts';

interface Test {
  teardown(done: () => unknown): unknown;
}

/** A group of filesystems that hang, or answer, together. It begins hanging, without ever having answered. */
export interface HungMounts {
  readonly points: readonly string[];
  /** From here on they answer: 1,000 blocks of 4 KiB, 250 of them free, 200 available. */
  answer(): Promise<void>;
  hang(): Promise<void>;
}

export interface MountSpace {
  mountHung(count: number): Promise<HungMounts>;
  /** Starts a program that sees the mounts. Its pid is the program's own. */
  start(command: string, args: readonly string[], options?: SpawnOptions): ChildProcess;
}

const isRoot = process.getuid?.() === 0;

/** Why no mount namespace can be had here; undefined where one can. */
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

/** The next line of a program's output; rejects when it ends first. */
function lineReader(output: Readable): () => Promise<string> {
  const lines = readline.createInterface({ input: output })[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the program ended');
    return value;
  };
}

/** Asks a program to end by ending its input, and waits until it has. */
async function endByInput(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.stdin?.end();
  await ended;
}

/** A mount namespace for the length of the test. Only where whyNoMountSpace() says nothing. */
export async function openMountSpace(t: Test): Promise<MountSpace> {
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

  // cd: entering the namespace leads to its root.
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
    const tell = async (word: string) => {
      stdin.write(`${word}\n`);
      await nextLine();
    };
    return { points, answer: () => tell('answer'), hang: () => tell('hang') };
  };
  return { mountHung, start };
}
