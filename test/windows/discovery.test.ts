/** Announcements on Windows: a C++ program with a made-up Windows; Wine's own dnsapi.dll has none of the functions. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import t from 'tap';
import { buildForWine, openPrefix, runUnderWine } from './wine-program.ts';

const SOURCES = [
  'test/windows/discovery_test.cc',
  ...['discovery/announcements', 'discovery/registration', 'task_loop', 'thread'].map(
    (name) => `native/windows/${name}.cc`,
  ),
  ...['error_text', 'unicode'].map((name) => `native/windows/win32/${name}.cc`),
];

t.setTimeout(240_000);
t.test('[3.mdns-windows] registered, withdrawn, and the reason for each refusal', async (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-discovery-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const program = path.join(folder, 'discovery_test.exe');
  await buildForWine(program, { sources: SOURCES, libraries: ['iphlpapi'] });
  const prefix = openPrefix();
  t.teardown(() => prefix.close());
  const { code, output } = await runUnderWine([program], prefix.env);
  t.match(output, /^all well: \d+ checks$/m, output);
  t.equal(code, 0);
});
