/** The addon of a platform that nobody has ported to: it builds, and each reading is null with the reason beside it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { ALL_SECTIONS, type Counters, type Host, SECTIONS } from '#src/host/host.js';
import { DETAIL_KEYS } from '#src/stats/details.js';
import { deriveSample, NO_BASELINE } from '#src/stats/sample.js';

const root = path.resolve(import.meta.dirname, '../../../../..');
const WARNINGS = ['-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Werror'];

function build(): string {
  const list =
    "import('./scripts/sources.mjs').then((m) => console.log(m.sourcesOf('shared', 'unsupported').join(' ')))";
  const sources = execFileSync(process.execPath, ['-e', list], { cwd: root, encoding: 'utf8' })
    .trim()
    .split(' ');
  const addon = path.join(root, `build/unsupported.${process.pid}.node`);
  mkdirSync(path.dirname(addon), { recursive: true });
  t.teardown(() => rmSync(addon, { force: true }));
  const defines = ['NAPI_VERSION=9', 'NAPI_CPP_EXCEPTIONS', 'NODE_ADDON_API_CPP_EXCEPTIONS_ALL'];
  const headers = ['node_modules/node-api-headers/include', 'node_modules/node-addon-api'];
  execFileSync(
    process.env['CXX'] ?? 'g++',
    [
      ...['-std=c++20', '-O0', '-shared', '-fPIC', ...WARNINGS, '-Inative', '-o', addon],
      ...[...defines, 'NODE_GYP_MODULE_NAME=hostwire'].map((define) => `-D${define}`),
      ...headers.flatMap((folder) => ['-isystem', folder]),
      ...sources,
      '-ldl',
    ],
    { cwd: root },
  );
  return addon;
}

t.setTimeout(600_000);

t.test('a reader that throws costs its own section or detail, and says why', async (t) => {
  const addon = createRequire(import.meta.url)(build()) as { readonly Host: new () => Host };
  const host = new addon.Host();
  const counters: Counters = host.readCounters(ALL_SECTIONS, true, 0);
  // Without a device the gpu section is empty, not unreadable; processes have a reader of their own.
  const keys = [...SECTIONS, ...DETAIL_KEYS].filter((key) => key !== 'gpu' && key !== 'processes');
  for (const key of keys) {
    t.equal(counters[key], null, key);
    t.match(counters.failures?.[key], /^read .*: /, `${key}: the reason`);
  }
  t.strictSame(Object.keys(counters.failures ?? {}).sort(), [...keys].sort());
  const { sample } = deriveSample(NO_BASELINE, counters, { interval_seconds: 2, host: 'x' });
  t.match(sample.extras, { sensors: [], batteries: [] });
  t.equal(host.readCounters(0, false, 0).failures, undefined, 'nothing was asked, nothing failed');
});
