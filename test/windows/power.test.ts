/** Power on Windows: a C++ program with a made-up Windows, and the addon's real calls, which Wine does nothing for. */
import path from 'node:path';
import t from 'tap';
import { emptyFolder } from '../helpers/scope.ts';
import { buildForWine, linesNotRun, openPrefix, runUnderWine } from './wine-program.ts';

const COUNTED = [
  'power/power.cc',
  'power/support.cc',
  'power/shutdown_privilege.cc',
  'power/suspend_news.cc',
  'task_loop.cc',
].map((file) => `native/windows/${file}`);
const PLATFORM = ['command_thread', 'thread', 'win32/error_text', 'win32/unicode'];
// Not power/calls.cc: the functions of Windows cannot be reached from this program.
const SOURCES = [
  'test/windows/power_test.cc',
  ...COUNTED,
  ...PLATFORM.map((name) => `native/windows/${name}.cc`),
  'native/host/finding.cc',
  'native/host/describe_power.cc',
];
/** Lines that run only after an error of Windows that nothing here can cause. */
const OUT_OF_REACH = /return GetLastError\(\);$/;

t.setTimeout(240_000);
t.test('[5.windows] the calls to Windows, and the reason given for each refusal', async (t) => {
  const folder = emptyFolder(t, 'power');
  const program = path.join(folder, 'power_test.exe');
  await buildForWine(program, { sources: SOURCES, libraries: ['advapi32'] }, true);
  const prefix = openPrefix();
  t.teardown(() => prefix.close());
  const { code, output } = await runUnderWine([program], prefix.env);
  t.match(output, /^all well: \d+ checks$/m, output);
  t.equal(code, 0);
  const { missed } = await linesNotRun(folder, COUNTED);
  t.same(
    missed.filter((line) => !OUT_OF_REACH.test(line)),
    [],
    'every line has run',
  );
});
