/** Processes of Windows in a C++ program under Wine: arguments, lists, handles, ends; with a display also windows. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { emptyFolder } from '../helpers/scope.ts';
import { windowsPath } from './wine.ts';
import { buildForWine, openPrefix, runUnderWine } from './wine-program.ts';

const PLATFORM = [
  'process/parse_processes',
  'process/handle',
  'process/owners',
  'process/list',
  'process/processes',
  'process/memory',
  'process/control',
  'win32/command_line',
  'process/launch',
  'error_symbol',
  'system/clock',
  'thread',
  'win32/unicode',
];
const SOURCES = [
  'test/windows/process_test.cc',
  ...PLATFORM.map((name) => `native/windows/${name}.cc`),
  'native/host/error.cc',
  'native/host/finding.cc',
  'native/host/prober.cc',
  'native/host/prober_state.cc',
];
const XVFB = '/usr/bin/Xvfb';
/** Far from the numbers that people and other tests use. */
const DISPLAY = 90 + (process.pid % 400);

async function startDisplay(): Promise<ChildProcess> {
  const display = spawn(XVFB, [`:${DISPLAY}`, '-screen', '0', '320x240x24'], { stdio: 'ignore' });
  for (let i = 0; i < 100 && !existsSync(`/tmp/.X11-unix/X${DISPLAY}`); i++) await sleep(50);
  return display;
}

t.setTimeout(300_000);
t.test('[7.windows-processes] listed, distinguished by their start time, launched, ended', async (t) => {
  const folder = emptyFolder(t, 'process');
  const program = path.join(folder, 'process_test.exe');
  await buildForWine(program, {
    sources: SOURCES,
    flags: ['-municode'],
    libraries: ['ntdll', 'advapi32', 'shell32', 'user32'],
  });
  const prefix = openPrefix();
  t.teardown(() => prefix.close());
  const plain = await runUnderWine([program, windowsPath(folder)], prefix.env);
  t.match(plain.output, /^all well: \d+ checks$/m, plain.output);
  t.equal(plain.code, 0);
  t.comment(`figure: arguments of Windows programs: ${/\d+/.exec(plain.output)?.[0]} checks, 20000 made up`);
  await prefix.close();
  if (!existsSync(XVFB)) {
    t.pass('a window is asked to close', { skip: 'no Xvfb: apt-get install -y xvfb' });
    return;
  }
  const display = await startDisplay();
  const shown = openPrefix();
  try {
    const env = { ...shown.env, DISPLAY: `:${DISPLAY}` };
    const windowed = await runUnderWine([program, windowsPath(folder), 'window'], env);
    t.match(windowed.output, /^all well: \d+ checks$/m, windowed.output);
  } finally {
    await shown.close();
    display.kill();
  }
});
