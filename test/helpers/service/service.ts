/** Starts the service for a test: as the program it is, or inside this process; always on loopback. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Clock } from '#src/clock.js';
import { type Config, DEFAULT_CONFIG } from '#src/config/config.js';
import { LiveConfig } from '#src/config/current.js';
import type { History } from '#src/history/history.js';
import type { Host } from '#src/host/host.js';
import type { Route } from '#src/http/routes.js';
import { createLog } from '#src/log/log.js';
import { type ConfigPart, configWith } from '../fakes/config-parts.ts';
import { PATIENCE_MS } from '../limits.ts';
import type { Scope } from '../scope.ts';
import { until } from '../until.ts';
import { DEAD_BUS, DEAD_BUSES } from './dead-buses.ts';
import { ENGINE_PART, loadTestEngine } from './engine.ts';

export type { ConfigPart } from '../fakes/config-parts.ts';

export interface StartedService {
  readonly port: number;
  readonly baseUrl: string;
  /** Its standard error so far. */
  readonly stderr: () => string;
}

export interface ServiceProcess extends StartedService {
  readonly pid: number;
  /** The configuration file it runs with, alone in its folder. */
  readonly configFile: string;
  /** Sends `signal` and waits for the end; returns how it ended and how long that took. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<Ending>;
}

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly tookMs: number;
}

const MAIN = fileURLToPath(new URL('../../../../../dist/main.js', import.meta.url));

/**
 * Keeps the machine on, whatever a test requests; tests are many clients at one address; and nothing is read but what a
 * test asks for.
 */
const SAFE = {
  power: { backend: 'record' },
  history: { minutes: 0 },
  server: { max_connections_per_address: 0, max_streams_per_address: 0, max_requests_per_address: 0 },
} as const satisfies ConfigPart;

const { max_connections_per_address, max_streams_per_address, max_requests_per_address } =
  DEFAULT_CONFIG.server;

/** The history and the limits per address as they are shipped, for tests that judge them. */
export const AS_SHIPPED = {
  history: DEFAULT_CONFIG.history,
  server: { max_connections_per_address, max_streams_per_address, max_requests_per_address },
} as const satisfies ConfigPart;

/** Returns the configuration file of a test's service: `config` and the settings that all of them have. */
export const configText = (config: ConfigPart): string =>
  JSON.stringify({ ...SAFE, ...config, server: { ...ENGINE_PART, ...SAFE.server, ...config.server } });

/** Clean-up functions for everything that must not outlive this process. */
const leftovers: (() => void)[] = [];
process.once('exit', () => {
  for (const clear of leftovers) clear();
});

/** Writes a configuration file to a new folder, which is removed when this process ends. */
function writeConfig(config: ConfigPart): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-test-'));
  leftovers.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'config.json');
  writeFileSync(file, configText(config), { mode: 0o600 });
  return file;
}

/** The file always has a backend: one in the environment, as a workplace may set it, would be another. */
function inheritedEnv(): NodeJS.ProcessEnv {
  const { HOSTWIRE_POWER_BACKEND: _, ...inherited } = process.env;
  return inherited;
}

export interface RunToEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly tookMs: number;
}

/** Runs the program with `args` and a configuration, or a file with one, to its end: for starts that fail. */
export async function runToEnd(
  args: readonly string[],
  config: ConfigPart | { readonly file: string } = {},
  nodeArgs: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<RunToEnd> {
  const startedAt = performance.now();
  const file = 'file' in config ? config.file : writeConfig(config);
  const child = spawn(process.execPath, [...nodeArgs, MAIN, '--config', file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...inheritedEnv(), ...DEAD_BUSES, ...env },
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout: stdout(), stderr: stderr(), tookMs: performance.now() - startedAt };
}

function collect(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return () => text;
}

/** Starts the program itself on a free port of 127.0.0.1; resolves when it listens. */
export async function startService(
  options: {
    readonly config?: ConfigPart;
    readonly host?: string;
    readonly args?: readonly string[];
    /** Default: a free port. */
    readonly port?: number;
    /** Added to this process's environment, in which no bus can be reached. */
    readonly env?: Readonly<Record<string, string>>;
    /** Starts the program elsewhere, for example in another mount namespace. */
    readonly start?: (command: string, args: readonly string[], how: SpawnOptions) => ChildProcess;
  } = {},
): Promise<ServiceProcess> {
  const configFile = writeConfig(options.config ?? {});
  const args = [
    '--host',
    options.host ?? '127.0.0.1',
    '--port',
    String(options.port ?? 0),
    '--config',
    configFile,
    ...(options.args ?? []),
  ];
  const env = { ...inheritedEnv(), ...DEAD_BUSES, ...options.env };
  refuseRealPower(options.config, env.DBUS_SYSTEM_BUS_ADDRESS);
  const start = options.start ?? spawn;
  const child = start(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'], env });
  if (child.stderr === null) throw new Error('the service was started without a pipe for its errors');
  const stderr = collect(child.stderr);
  const ended = new Promise<Omit<Ending, 'tookMs'>>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  // A test that fails half-way must not leave it running.
  leftovers.push(() => child.kill('SIGKILL'));
  const port = await listeningPort(child, stderr);
  return {
    port,
    baseUrl: `${/listening on (https?)/.exec(stderr())?.[1]}://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    configFile,
    stderr,
    async stop(signal = 'SIGTERM') {
      const startedAt = performance.now();
      child.kill(signal);
      return { ...(await ended), tookMs: performance.now() - startedAt };
    },
  };
}

/** As startService, until the end of `t`. */
export async function serveProgram(
  t: Scope,
  options: Parameters<typeof startService>[0] = {},
): Promise<ServiceProcess> {
  const service = await startService(options);
  t.teardown(() => service.stop());
  return service;
}

/** For `startService`: at most so many descriptors. More than this process may have need root. */
export const withDescriptors =
  (count: number) =>
  (command: string, args: readonly string[], how: SpawnOptions): ChildProcess =>
    spawn('prlimit', [`--nofile=${count}:${count}`, command, ...args], how);

/** Throws if power commands could reach any bus outside a temporary folder. */
function refuseRealPower(config: ConfigPart | undefined, systemBus: string): void {
  if ((config?.power?.backend ?? 'record') === 'record' || systemBus === DEAD_BUS) return;
  if (!systemBus.startsWith(`unix:path=${os.tmpdir()}/`))
    throw new Error(`${systemBus} is no bus of a test's own`);
}

async function listeningPort(child: ChildProcess, stderr: () => string): Promise<number> {
  const find = () => {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}: ${stderr()}`);
    return /listening on https?:\/\/\S+:(\d+)/.exec(stderr())?.[1];
  };
  const late = () => {
    child.kill('SIGKILL');
    return `the service is not listening after ${PATIENCE_MS} ms: ${stderr()}`;
  };
  return Number(await until(find, late));
}

export interface ServiceHere extends StartedService {
  /** 0: it does not speak HTTPS. */
  readonly securePort: number;
  readonly stop: () => Promise<void>;
  readonly reconfigure: (config: ConfigPart) => void;
  readonly routes: readonly Route[];
}

function merged(config: ConfigPart, host: string, port: number): Config {
  return configWith(SAFE, { server: { port } }, config, { server: { host } });
}

export interface HereOptions {
  readonly listensOn?: '127.0.0.1' | '::';
  readonly machineNames?: readonly string[];
  /** Default: a free port. */
  readonly port?: number;
  /** Clock of the test, in place of real time. */
  readonly clock?: Clock;
  /** In place of the recorder. */
  readonly history?: History;
}

/** The service inside this process, seeing `host`. */
export async function startHere(
  host: Host,
  config: ConfigPart = {},
  {
    listensOn = '127.0.0.1',
    machineNames = ['testhost'],
    port: wanted = 0,
    clock,
    history,
  }: HereOptions = {},
): Promise<ServiceHere> {
  const { Service } = await import('#src/service.js');
  const lines: string[] = [];
  const live = new LiveConfig(merged(config, listensOn, wanted));
  const service = new Service({
    config: live,
    host,
    engine: await loadTestEngine(),
    machineNames,
    ...(clock && { clock }),
    ...(history && { history }),
    log: createLog((line) => lines.push(line), 'debug'),
    facts: {
      version: '0.0.0-test',
      pid: process.pid,
      startedAt: Math.floor(Date.now() / 1000),
      node: process.version,
      platform: process.platform,
    },
  });
  const bound = await service.start();
  const port = bound[0]?.port ?? 0;
  return {
    port,
    securePort: bound.find(({ scheme }) => scheme === 'https')?.port ?? 0,
    baseUrl: `${bound[0]?.scheme}://127.0.0.1:${port}`,
    stderr: () => lines.join(''),
    stop: async () => void (await service.close()),
    reconfigure: (next) => live.replace(merged(next, listensOn, wanted)),
    routes: service.routes,
  };
}

/** As startHere, until the end of `t`. */
export async function serveHere(t: Scope, ...how: Parameters<typeof startHere>): Promise<ServiceHere> {
  const service = await startHere(...how);
  t.teardown(() => service.stop());
  return service;
}
