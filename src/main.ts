#!/usr/bin/env node
/** Arguments and exit codes. Only this file and run.ts touch `process`. */
import { writeSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import { type Arguments, parseArguments } from './cli/arguments.ts';
import { generateCertificate, generateKey } from './cli/certificate.ts';
import { checkConfiguration } from './cli/check.ts';
import { examine } from './cli/doctor/doctor.ts';
import { formatHelp } from './cli/help.ts';
import { type Output, printable } from './cli/output.ts';
import { isStillLocal } from './cli/ports.ts';
import { findTarget } from './cli/target.ts';
import { judgeTerminal } from './cli/terminal.ts';
import { describeLibc, formatVersion, type LibraryReport, type VersionFacts } from './cli/version.ts';
import { wake } from './cli/wake.ts';
import { manageService } from './cli/windows-service.ts';
import { type LoadOptions, loadConfig } from './config/load.ts';
import { describeEngine, loadEngine } from './engines.ts';
import { codeOf, messageOf } from './errors.ts';
import { readMachineNames } from './host/names.ts';
import { findMachineDataFolder, openNativeHost, openWindowsService } from './host/native.ts';
import { openLogFile } from './log/file.ts';
import { run } from './run.ts';

// Keeps the young generation of the heap at its initial size, 1 MiB: thousands of connections in one moment would make it grow
// to 16 MiB for good, from which a service this small gains nothing. Must run before the service is loaded.
v8.setFlagsFromString('--semi-space-growth-factor=1');

// The limit of uWebSockets.js is 4 KiB unless this is set before it is loaded. Browsers also send the cookies of other
// services on this host name.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';

const VERSION = '0.1.0-alpha';
const STDOUT = 1;
const STDERR = 2;

/** Writes all of `output`, cleaned; false when it cannot be read: the reader has gone, or the disk is full. */
function print(descriptor: number, output: Pick<Output, 'text' | 'isPainted'>): boolean {
  const bytes = Buffer.from(printable(output));
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      // Another program made the terminal or pipe non-blocking.
      if (codeOf(error) !== 'EAGAIN') return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
  return true;
}

/** Takes the lines of a service without a console. */
let write: ((line: string) => void) | undefined;

function refuseToStart(text: string): void {
  const line = { text: `hostwire: ${text}\n` };
  if (write === undefined) print(STDERR, line);
  else write(printable(line));
  process.exitCode = 1;
}

type Words = Pick<LoadOptions, 'paths' | 'overrides'>;

/** As they were at the start. */
const VARIABLES: Readonly<Record<string, string | undefined>> = { ...process.env };

function loadOptions(words: Words): LoadOptions {
  const { platform } = process;
  return {
    ...words,
    surroundings: {
      platform,
      cwd: process.cwd(),
      uid: process.geteuid?.(),
      variables: VARIABLES,
      machineFolder: platform === 'win32' ? findMachineDataFolder() : undefined,
      hasSqlite: isBuiltin('node:sqlite'),
    },
  };
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

async function versionFacts(words: Words): Promise<VersionFacts> {
  const { platform, arch, version: node } = process;
  // Its type is only `object`; these parts of it are documented.
  const libc = platform === 'linux' ? describeLibc(process.report.getReport() as LibraryReport) : undefined;
  return { version: VERSION, engine: await engineLine(words), node: `${node} on ${platform} ${arch}`, libc };
}

/** The folder of a service that Windows starts; undefined where there is no folder for settings of all users. */
function findMachineFolder(): string | undefined {
  const folder = findMachineDataFolder();
  return folder === undefined ? undefined : path.join(folder, 'hostwire');
}

/** Its log file. */
function findServiceLog(): string | undefined {
  const folder = findMachineFolder();
  return folder === undefined ? undefined : path.join(folder, 'log', 'service.log');
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
    write?.(printable({ text: `hostwire error: ${error.stack ?? error.message}\n` }));
  });
  // The manager restarts a service that ends without a report.
  process.on('exit', (code) => {
    if (!hasCrashed) control.ended(code);
  });
  await run({ options: loadOptions(words), version: VERSION, write, role: 'service' });
  control.running();
}

async function main(): Promise<void> {
  const words = parseArguments(process.argv.slice(2));
  const { command, configPaths, overrides, isService, problem } = words;
  if (problem !== undefined) {
    print(STDERR, { text: `hostwire: ${problem.text}\n` });
    process.exitCode = problem.exitCode;
    return;
  }
  const answer = (output: Output) => {
    const { exitCode } = output;
    process.exitCode = print(STDOUT, output) ? exitCode : Math.max(1, exitCode);
  };
  const paths = { paths: configPaths, overrides };
  switch (command) {
    case 'help':
      return answer({ text: formatHelp(), exitCode: 0 });
    case 'version':
      return answer({ text: formatVersion(await versionFacts(paths)), exitCode: 0 });
    case 'keygen': {
      const { certificate } = words;
      if (certificate === undefined) return answer(generateKey());
      const facts = { names: readMachineNames(), cwd: process.cwd(), isRoot: process.getuid?.() === 0 };
      return answer(await generateCertificate(certificate, facts));
    }
    case 'pair': {
      const { pair } = await import('./cli/keys/pair.ts');
      const face = judgeTerminal(VARIABLES, process.stdout.isTTY);
      const options = loadOptions(paths);
      const isStale = await isStillLocal(loadConfig(options).config.server);
      return answer(pair(words.pair, options, words.isJson, face, undefined, undefined, isStale));
    }
    case 'keys': {
      const { listKeys, takeBack } = await import('./cli/keys/keys.ts');
      const { removedKey, isJson } = words;
      if (removedKey === undefined) return answer(await listKeys(loadOptions(paths), isJson));
      return answer(takeBack(removedKey, loadOptions(paths)));
    }
    case 'check': {
      const { findRuleValues } = await import('./cli/rule-values.ts');
      const options = loadOptions(paths);
      return answer(checkConfiguration(options, words.isJson, await findRuleValues(options)));
    }
    case 'watch': {
      const { tryRule } = await import('./cli/watch.ts');
      return answer(await tryRule(words.triedRule ?? '', loadOptions(paths)));
    }
    case 'doctor':
      return answer(await examine(loadOptions(paths), doctorFacts(), words.isJson));
    case 'wake': {
      const interfaces = () => openNativeHost().readBroadcastAddresses();
      // Without a machine the arguments were refused.
      if (words.wake !== undefined)
        answer(await wake(words.wake, loadOptions(paths), words.isJson, interfaces));
      return;
    }
    case 'notify': {
      const { changeMutes, testTargets } = await import('./cli/notify.ts');
      const [action, target] = words.notify;
      const options = loadOptions(paths);
      return answer(
        await (action === 'test' ? testTargets(target, options) : changeMutes(words.notify, options)),
      );
    }
    case 'top': {
      const { top: topWords, isJson } = words;
      const target = findTarget(topWords, VARIABLES, () => loadConfig(loadOptions(paths)).config);
      const { top } = await import('./cli/top/top.ts');
      return answer(await top({ target, isOnce: topWords.isOnce, isJson, variables: VARIABLES }, process));
    }
    case 'service':
      return answer(controlService(words));
    case 'hub':
      return await run({ options: loadOptions(paths), version: VERSION, write, role: 'hub' });
    case 'run':
      if (isService) await runAsService(paths);
      else await run({ options: loadOptions(paths), version: VERSION, write, role: 'service' });
  }
}

const doctorFacts = () => ({
  node: process.version,
  userName: userName(),
  userId: process.getuid?.(),
  runtimeFolder: process.env['XDG_RUNTIME_DIR'],
});

function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    // A container may run as a user without an entry in passwd.
    return `user ${process.getuid?.()}`;
  }
}

function controlService(words: Arguments): Output {
  const control = openWindowsService();
  return manageService(control, words, {
    program: [process.execPath, ...process.argv.slice(1, 2)],
    logFile: findServiceLog() ?? 'none',
    folder: findMachineFolder(),
    shipped: fileURLToPath(new URL('config.yaml', import.meta.url)),
  });
}

main().catch((error: unknown) => {
  // The message of a ConfigError has one line per problem.
  refuseToStart(messageOf(error));
  // A role may have opened connections and timers, which would keep the process.
  process.exit();
});
