/** Thousands of files of keys: a reload reads those that have changed, in slices, and loses no change. */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type Defer, deferToNextTurn } from '#src/clock.js';
import { LiveConfig } from '#src/config/current.js';
import { load, loadConfig } from '#src/config/load.js';
import { Reloader } from '#src/config/reload.js';
import { checkTime } from '../helpers/limits.ts';
import { until } from '../helpers/until.ts';
import { makeFolder, optionsFor, writeFiles } from './loading.ts';

const FILES = process.env['HOSTWIRE_FULL'] === '1' ? 10_000 : 1000;

const keyOf = (at: number | string) =>
  JSON.stringify({ digest: `sha256/${String(at).padStart(42, '0')}A=`, scopes: ['read'] });

function writeKeys(t: Test, files: number) {
  const folder = makeFolder(t);
  writeFiles(folder, {
    'config.yaml': 'auth: {enabled: true, keys_folder: keys}',
    ...Object.fromEntries(Array.from({ length: files }, (_, at) => [`keys/k${at}.json`, keyOf(at)])),
  });
  return { options: optionsFor(folder), at: (name: string) => path.join(folder, 'keys', `${name}.json`) };
}

function startReloader(t: Test, files: number, defer: Defer) {
  const { options, at } = writeKeys(t, files);
  const loaded = loadConfig(options);
  const config = new LiveConfig(loaded.config);
  const lines: string[] = [];
  const reloader = new Reloader({
    load: options,
    loaded,
    config,
    report: ({ text }) => lines.push(text),
    defer,
  });
  t.teardown(() => reloader.close());
  return { at, reloader, lines, names: () => Object.keys(config.current.auth.keys) };
}

/** From now on the files count as old, whose times are no longer the same after another change. */
function age(t: Test): void {
  const { now } = Date;
  Date.now = () => now() + 10_000;
  t.teardown(() => {
    Date.now = now;
  });
}

t.test('[8.reload-many] a file is a step, and one that has not changed is not read again', async (t) => {
  const { options, at } = writeKeys(t, 5);
  const steps = [...load(options)].length;
  const five = loadConfig(options);
  writeFileSync(at('new'), keyOf('new'), { mode: 0o600 });
  // It is read, and what it names is.
  t.equal([...load(options)].length, steps + 2);
  t.not(loadConfig(options, five).keyFiles.get(at('k0')), five.keyFiles.get(at('k0')), 'too young');
  age(t);
  const before = loadConfig(options, five);
  for (const [name, text] of Object.entries({ k1: keyOf('other'), k2: '{', k3: keyOf(3) }))
    writeFileSync(at(name), text);
  rmSync(at('k4'));
  const after = loadConfig(options, before);
  const isKept = (name: string) => after.keyFiles.get(at(name)) === before.keyFiles.get(at(name));
  t.strictSame(['k0', 'k1', 'k2', 'k3', 'new'].map(isKept), [true, false, false, false, true]);
  t.strictSame(Object.keys(after.config.auth.keys), ['k0', 'k1', 'k3', 'new']);
  t.match(after.config.auth.keys['k1']?.digest, 'other');
  t.equal(after.config.auth.keys['k3'], before.config.auth.keys['k3'], 'written again, and the same');
  t.match(
    loadConfig(options, after).notices,
    [{ text: /k2\.json:1: auth\.keys\.k2: not JSON/ }],
    'a bad file is reported again',
  );
});

t.test('[8.reload-many] other work runs between slices, and one more reload follows', async (t) => {
  const slices: (() => void)[] = [];
  const { at, reloader, lines, names } = startReloader(t, FILES, (slice) => slices.push(slice));
  rmSync(at('k0'));
  reloader.reload();
  t.strictSame([slices.length, lines], [1, []], 'the rest is put off');
  rmSync(at('k1'));
  for (let times = 0; times < 3; times++) reloader.reload();
  t.equal(slices.length, 1, 'one at a time');
  for (let slice = slices.shift(); slice !== undefined; slice = slices.shift()) slice();
  t.equal(names().length, FILES - 2);
  t.equal(lines.length, 2, 'one for the first, one for all others');
  reloader.reload();
  reloader.close();
  slices.shift()?.();
  t.equal(slices.length + lines.length, 2, 'closed');
});

t.test('[8.reload-many] no turn is long', async (t) => {
  const { reloader, lines } = startReloader(t, FILES, deferToNextTurn);
  age(t);
  let longest = 0;
  for (const round of [1, 2]) {
    longest = 0;
    let last = performance.now();
    reloader.reload();
    const timer = setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }, 1);
    await until(() => lines.length === round);
    clearInterval(timer);
  }
  checkTime(t, longest, 50, `the longest turn of a reload without changes, with ${FILES} files`);
});

t.test('[10.keys-revoked] a removed key is out in time while reload follows reload', async (t) => {
  const { at, reloader, names } = startReloader(t, 20, deferToNextTurn);
  const timer = setInterval(() => reloader.reload(), 4);
  t.teardown(() => clearInterval(timer));
  await sleep(50);
  const startedAt = performance.now();
  rmSync(at('k3'));
  await until(() => !names().includes('k3'));
  checkTime(t, performance.now() - startedAt, 1000, 'the revocation');
});
