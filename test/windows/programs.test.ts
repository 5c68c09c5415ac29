/**
 * C++ programs under Wine: power with a made-up Windows, media sessions with a made-up Windows.Media.Control behind the registry,
 * processes with a real one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { emptyFolder } from '../helpers/scope.ts';
import { buildFakeSmtc } from './fake-smtc.ts';
import { windowsPath } from './wine.ts';
import { buildForWine, linesNotRun, openPrefix, runUnderWine } from './wine-program.ts';

interface Case {
  readonly title: string;
  readonly program: string;
  /** Beside that of the program, in test/windows. */
  readonly checks?: readonly string[];
  /** Each line of these, in native/windows, has run, or the test fails. */
  readonly counted?: readonly string[];
  /** Without their endings, in native/windows and native/host. */
  readonly windows: readonly string[];
  readonly host: readonly string[];
  readonly flags?: readonly string[];
  readonly libraries: readonly string[];
  /** Prepares `folder`; returns the arguments. */
  readonly argumentsIn?: (folder: string) => Promise<string> | string;
  /** Run once more with another argument and a display, for windows. */
  readonly onDisplay?: string;
}

/** Lines that run only after an error of Windows that nothing here can cause. */
const OUT_OF_REACH = /return GetLastError\(\);$/;

const CASES: readonly Case[] = [
  {
    title: '[5.windows] the calls to Windows, and the reason given for each refusal',
    program: 'power_test',
    // Not power/calls.cc: the functions of Windows cannot be reached from this program.
    counted: [
      ...['power/power.cc', 'power/support.cc', 'power/shutdown_privilege.cc', 'power/suspend_news.cc'],
      'task_loop.cc',
    ],
    windows: ['command_thread', 'thread', 'win32/error_text', 'win32/unicode'],
    host: ['finding', 'describe_power'],
    libraries: ['advapi32'],
  },
  {
    title: '[6.windows] sessions are read, commanded and followed; refusals are reported; every line has run',
    program: 'smtc/smtc_test',
    checks: ['smtc/check_sessions', 'smtc/check_commands', 'smtc/check_manager', 'smtc/check_slow'],
    counted: [
      ...['media/smtc.cc', 'media/smtc.h', 'media/smtc_players.cc', 'media/smtc_session.cc'],
      ...['media/smtc_players.h', 'media/smtc_handlers.h', 'media/session_table.cc', 'win32/com.h'],
    ],
    windows: [
      ...['media/media', 'command_thread', 'task_loop', 'thread', 'win32/error_text', 'win32/unicode'],
    ],
    host: ['finding', 'describe_media'],
    flags: ['-municode'],
    libraries: ['runtimeobject', 'ole32', 'uuid', 'advapi32'],
    argumentsIn: buildFakeSmtc,
  },
  {
    title: '[7.windows-processes] listed, distinguished by their start time, launched, ended',
    program: 'process_test',
    windows: [
      ...['parse_processes', 'handle', 'owners', 'list', 'processes', 'memory', 'control', 'launch'].map(
        (name) => `process/${name}`,
      ),
      ...['win32/command_line', 'error_symbol', 'system/clock', 'thread', 'win32/unicode'],
    ],
    host: ['error', 'finding', 'prober', 'prober_state'],
    flags: ['-municode'],
    libraries: ['ntdll', 'advapi32', 'shell32', 'user32'],
    argumentsIn: (folder) => folder,
    onDisplay: 'window',
  },
];

const XVFB = '/usr/bin/Xvfb';
/** Far from the numbers that people and other tests use. */
const DISPLAY = 90 + (process.pid % 400);

async function startDisplay(): Promise<ChildProcess> {
  const display = spawn(XVFB, [`:${DISPLAY}`, '-screen', '0', '320x240x24'], { stdio: 'ignore' });
  for (let i = 0; i < 100 && !existsSync(`/tmp/.X11-unix/X${DISPLAY}`); i++) await sleep(50);
  return display;
}

/** Runs it in a prefix of its own. */
async function check(t: Test, command: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<void> {
  const prefix = openPrefix();
  try {
    const { code, output } = await runUnderWine(command, { ...prefix.env, ...more });
    t.match(output, /^all well: \d+ checks$/m, output);
    t.equal(code, 0);
    t.comment(`figure: ${path.basename(command[0] ?? '')}: ${/\d+/.exec(output)?.[0]} checks under Wine`);
  } finally {
    await prefix.close();
  }
}

t.setTimeout(960_000);
for (const { title, program, checks = [], counted = [], windows, host, ...how } of CASES)
  t.test(title, async (t) => {
    const folder = emptyFolder(t, 'windows');
    const file = path.join(folder, `${path.basename(program)}.exe`);
    const lines = counted.map((name) => `native/windows/${name}`);
    const { flags = [], libraries } = how;
    const sources = [
      ...[program, ...checks].map((name) => `test/windows/${name}.cc`),
      ...lines.filter((name) => name.endsWith('.cc')),
      ...windows.map((name) => `native/windows/${name}.cc`),
      ...host.map((name) => `native/host/${name}.cc`),
    ];
    await buildForWine(file, { sources, flags, libraries }, lines.length > 0);
    const words = how.argumentsIn === undefined ? [] : [windowsPath(await how.argumentsIn(folder))];
    await check(t, [file, ...words]);
    if (lines.length > 0) {
      const { missed, lines: count } = await linesNotRun(folder, lines);
      t.same(
        missed.filter((line) => !OUT_OF_REACH.test(line)),
        [],
        `every one of ${count} lines has run`,
      );
      t.ok(count > 100, `${count} lines were counted`);
    }
    if (how.onDisplay === undefined) return;
    if (!existsSync(XVFB)) {
      t.pass('a window is asked to close', { skip: 'no Xvfb: apt-get install -y xvfb' });
      return;
    }
    const display = await startDisplay();
    t.teardown(() => display.kill());
    await check(t, [file, ...words, how.onDisplay], { DISPLAY: `:${DISPLAY}` });
  });
