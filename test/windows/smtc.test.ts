/** Windows' media sessions in a C++ program under Wine, with a made-up Windows.Media.Control behind the registry. */
import path from 'node:path';
import t from 'tap';
import { emptyFolder } from '../helpers/scope.ts';
import { buildFakeSmtc } from './fake-smtc.ts';
import { windowsPath } from './wine.ts';
import { buildForWine, linesNotRun, openPrefix, runUnderWine } from './wine-program.ts';

/** Each line of these has run, or the test fails. */
const COUNTED = [
  'media/smtc.cc',
  'media/smtc.h',
  'media/smtc_players.cc',
  'media/smtc_session.cc',
  'media/smtc_players.h',
  'media/smtc_handlers.h',
  'media/session_table.cc',
  'win32/com.h',
].map((file) => `native/windows/${file}`);
const PLATFORM = [
  'media/media',
  'command_thread',
  'task_loop',
  'thread',
  'win32/error_text',
  'win32/unicode',
];
const CHECKS = ['smtc_test', 'check_sessions', 'check_commands', 'check_manager', 'check_slow'];
const SOURCES = [
  ...CHECKS.map((name) => `test/windows/smtc/${name}.cc`),
  ...COUNTED.filter((file) => file.endsWith('.cc')),
  ...PLATFORM.map((name) => `native/windows/${name}.cc`),
  'native/host/finding.cc',
  'native/host/describe_media.cc',
];

t.setTimeout(480_000);
t.test(
  '[6.windows] sessions are read, commanded and followed; refusals are reported; every line has run',
  async (t) => {
    const folder = emptyFolder(t, 'smtc');
    const program = path.join(folder, 'smtc_test.exe');
    await buildForWine(
      program,
      {
        sources: SOURCES,
        flags: ['-municode'],
        libraries: ['runtimeobject', 'ole32', 'uuid', 'advapi32'],
      },
      true,
    );
    const library = await buildFakeSmtc(folder);
    const prefix = openPrefix();
    t.teardown(() => prefix.close());
    const { code, output } = await runUnderWine([program, windowsPath(library)], prefix.env);
    t.match(output, /^all well: \d+ checks$/m, output);
    t.equal(code, 0);
    t.comment(`figure: media sessions of Windows: ${/\d+/.exec(output)?.[0]} checks under Wine`);
    const { missed, lines } = await linesNotRun(folder, COUNTED);
    t.same(missed, [], 'every line has run');
    t.ok(lines > 400, `${lines} lines were counted`);
    t.comment(`figure: media sessions of Windows: ${lines - missed.length} of ${lines} lines run`);
  },
);
