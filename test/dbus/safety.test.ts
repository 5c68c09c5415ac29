/** No test can reach a bus of the machine that it runs on, so none can switch it off. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { openNativeHost } from '#src/host/native.js';
import { DEAD_BUS } from '../helpers/service/dead-buses.ts';
import { startService } from '../helpers/service/service.ts';

const tests = path.resolve(import.meta.dirname, '../../../../test');
const files = readdirSync(tests, { recursive: true })
  .map(String)
  .filter((file) => file.endsWith('.ts'));
const textOf = (file: string) => readFileSync(path.join(tests, file), 'utf8');

/** The test files that `file` imports, at any depth. */
function importsOf(file: string, seen = new Set<string>()): ReadonlySet<string> {
  for (const [, name = ''] of textOf(file).matchAll(/(?:from|import) '(\.[^']+\.ts)'/g)) {
    const target = path.join(path.dirname(file), name);
    if (seen.has(target)) continue;
    seen.add(target);
    importsOf(target, seen);
  }
  return seen;
}

const DEAD = path.join('helpers', 'service', 'dead-buses.ts');

t.test(
  '[5.no-test-switches-off] every test that opens the machine has made its buses unreachable first',
  async (t) => {
    const openers = files.filter((file) =>
      /'#src\/(?:host\/native|service|main|cli\/doctor\/doctor)\.js'/.test(textOf(file)),
    );
    t.ok(openers.length > 8, `${openers.length} files open the machine`);
    for (const file of openers) t.ok(importsOf(file).has(DEAD), file);
    // A service that is started as a program gets its environment from here, or from a test that gives all of it.
    for (const file of files)
      if (/dist\/main\.js/.test(textOf(file))) t.ok(importsOf(file).has(DEAD), `${file} starts the program`);
  },
);

t.test('[5.no-test-switches-off] in this process, and in the programs that it starts', async (t) => {
  t.equal(process.env['DBUS_SYSTEM_BUS_ADDRESS'], DEAD_BUS);
  const { power } = openNativeHost();
  const { isSupported, reason } = (await power?.support('shutdown')) ?? { isSupported: true, reason: null };
  t.notOk(isSupported);
  t.match(reason, /^no system bus: cannot connect to unix:path=\/dev\/null\/no-bus/);
  const config = { power: { backend: 'system' as const } };
  for (const address of [
    'unix:path=/run/dbus/system_bus_socket',
    'unix:path=/var/run/dbus/system_bus_socket',
  ])
    await t.rejects(
      startService({ config, env: { DBUS_SYSTEM_BUS_ADDRESS: address } }),
      /no bus of a test's own/,
    );
  const service = await startService({ config });
  const answer = await fetch(`${service.baseUrl}/api/pw/sleep`, { method: 'POST' });
  t.equal(answer.status, 501);
  t.match(await answer.text(), /no-bus/);
  await service.stop();
});
