#!/usr/bin/env node
/** Arguments, signals, exit codes: the only file that touches `process`. */
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import v8 from 'node:v8';
import { type Arguments, parseArguments } from './cli/arguments.ts';
import { generateCertificate } from './cli/certificate.ts';
import { checkConfiguration } from './cli/check.ts';
import { examine } from './cli/doctor/doctor.ts';
import { HELP } from './cli/help.ts';
import { generateKey } from './cli/keygen.ts';
import type { Output } from './cli/output.ts';
import { manageService } from './cli/windows-service.ts';
import { type LoadOptions, loadConfig } from './config/load.ts';
import { Reloader } from './config/reload.ts';
import { describeEngine, loadEngine } from './engines.ts';
import { readMachineNames } from './host/names.ts';
import { findMachineDataFolder, openNativeHost, openWindowsService } from './host/native.ts';
import type { Bound } from './http/connections/listening.ts';
import { createLog } from './log.ts';
import { openLogFile } from './log-file.ts';

// Keeps the young generation of the heap at its initial size, 1 MiB: thousands of connections at once would make it grow
// to 16 MiB for good, from which a service this small gains nothing. Must run before the service is loaded.
v8.setFlagsFromString('--semi-space-growth-factor=1');

// The limit of uWebSockets.js is 4 KiB unless this is set before it is loaded. Browsers also send the cookies of other
// services on this host name.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';

const VERSION = '0.1.0-alpha';
/** Writes whole lines for people. */
let write = (text: string): unknown => process.stderr.write(text);
const log = createLog((line) => write(line));

function refuseToStart(text: string): void {
  write(`hostwire: ${text}\n`);
  process.exitCode = 1;
}

type Words = Pick<LoadOptions, 'paths' | 'overrides'>;

function loadOptions(words: Words): LoadOptions {
  const { platform } = process;
  return {
    ...words,
    surroundings: {
      platform,
      cwd: process.cwd(),
      uid: process.geteuid?.(),
      variables: process.env,
      machineFolder: platform === 'win32' ? findMachineDataFolder() : undefined,
    },
  };
}

/** Serves until a signal ends it. */
async function run(words: Words): Promise<void> {
  const options = loadOptions(words);
  const loaded = loadConfig(options);
  const { config } = loaded;
  log.setLevel(config.log.level);
  for (const { level, text } of loaded.notices) log[level](text);
  if (process.getuid?.() === 0)
    log.warn('running as root, which is not needed: an ordinary user is safer and sees the same stats');
  const [{ Service }, engine] = await Promise.all([import('./service.ts'), loadEngine(config.server.engine)]);
  const service = new Service({
    config,
    host: openNativeHost({ proc: config.host.proc, sys: config.host.sys }),
    engine,
    log,
    machineNames: readMachineNames(),
    rss: process.memoryUsage.rss,
    facts: {
      version: VERSION,
      pid: process.pid,
      startedAt: Math.floor(Date.now() / 1000),
      node: process.version,
      platform: process.platform,
    },
  });
  const bound = await service.start();
  const reloader = new Reloader({
    load: options,
    loaded,
    apply: (next) => service.reconfigure(next),
    report: ({ level, text }) => log[level](text),
  });
  reloader.start();
  process.on('SIGHUP', () => reloader.reload());
  const stop = () => {
    reloader.close();
    void service.close().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // Last: the reader of this line may send a signal at once.
  write(`listening on ${bound.map(describeBound).join(' and ')}\n`);
}

/** Its URL, and for a wildcard the URL to open. */
function describeBound({ scheme, host, port }: Bound): string {
  const urlHost = host.includes(':') ? `[${host}]` : host;
  const local = host === '::' || host === '0.0.0.0' ? ` (open ${scheme}://localhost:${port})` : '';
  return `${scheme}://${urlHost}:${port}${local}`;
}

/** The engine that would run, also where the configuration cannot be read. */
async function engineLine(words: Words): Promise<string> {
  let wanted: Parameters<typeof loadEngine>[0] = 'auto';
  try {
    wanted = loadConfig(loadOptions(words)).config.server.engine;
  } catch {
    // `hostwire check` says what is wrong with it.
  }
  return await loadEngine(wanted).then(
    describeEngine,
    (error: Error) => `HTTP engine: none: ${error.message}`,
  );
}

/** The log file of a service that Windows starts; undefined where there is no such folder. */
function findServiceLog(): string | undefined {
  const folder = findMachineDataFolder();
  return folder === undefined ? undefined : path.join(folder, 'hostwire', 'log', 'service.log');
}

/** As `run`, for the service manager of Windows: without a console and without signals. */
async function runAsService(words: Words): Promise<void> {
  const control = openWindowsService();
  // The same way as a signal on other systems.
  await control.begin(() => process.emit('SIGTERM', 'SIGTERM'));
  const logFile = findServiceLog();
  if (logFile !== undefined) write = openLogFile(logFile);
  let hasCrashed = false;
  process.on('uncaughtExceptionMonitor', (error) => {
    hasCrashed = true;
    write(`hostwire error: ${error.stack ?? error.message}\n`);
  });
  // The manager restarts a service that ends without a report.
  process.on('exit', (code) => {
    if (!hasCrashed) control.ended(code);
  });
  await run(words);
  control.running();
}

async function main(): Promise<void> {
  const words = parseArguments(process.argv.slice(2));
  const { command, configPaths, overrides, isService, problem } = words;
  if (problem !== undefined) {
    process.stderr.write(`hostwire: ${problem.text}\n`);
    process.exitCode = problem.exitCode;
    return;
  }
  const print = ({ text, exitCode }: Output) => {
    process.stdout.write(text);
    process.exitCode = exitCode;
  };
  const paths = { paths: configPaths, overrides };
  switch (command) {
    case 'help':
      return print({ text: HELP, exitCode: 0 });
    case 'version':
      return print({ text: `${VERSION}\n${await engineLine(paths)}\n`, exitCode: 0 });
    case 'keygen': {
      const { certificate } = words;
      if (certificate === undefined) return print(generateKey());
      const facts = { names: readMachineNames(), cwd: process.cwd(), isRoot: process.getuid?.() === 0 };
      return print(await generateCertificate(certificate, facts));
    }
    case 'check':
      return print(checkConfiguration(loadOptions(paths)));
    case 'doctor':
      return print(
        await examine(loadOptions(paths), {
          node: process.version,
          userName: os.userInfo().username,
          userId: process.getuid?.(),
          runtimeFolder: process.env['XDG_RUNTIME_DIR'],
        }),
      );
    case 'service':
      return print(controlService(words));
    case 'run':
      if (isService) await runAsService(paths);
      else await run(paths);
  }
}

function controlService(words: Arguments): Output {
  const control = openWindowsService();
  return manageService(control, words, {
    program: [process.execPath, ...process.argv.slice(1, 2)],
    logFile: findServiceLog() ?? 'none',
  });
}

main().catch((error: unknown) => {
  // The message of a ConfigError has one line per problem.
  refuseToStart(error instanceof Error ? error.message : String(error));
});
