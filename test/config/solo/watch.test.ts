/** The watcher reports every way a file can change, once per change, at a small cost. */
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { FileWatcher, type WatchTimes } from '#src/config/sources/watch-files.js';
import { checkTime } from '../../helpers/limits.ts';
import { makeFolder } from '../loading.ts';

const FAST: WatchTimes = { quietMs: 40, maxMs: 200, pollMs: 100 };

interface Watched {
  readonly watcher: FileWatcher;
  count(): number;
  /** Runs `act` and returns the number of reports: waits up to 1.5 s for the first, and a while for further ones. */
  changesAfter(act: () => void): Promise<number>;
}

function watchIn(t: Test, paths: readonly string[], times: WatchTimes = FAST): Watched {
  let calls = 0;
  const watcher = new FileWatcher(paths, () => calls++, times);
  t.teardown(() => watcher.close());
  return {
    watcher,
    count: () => calls,
    async changesAfter(act) {
      const before = calls;
      act();
      const deadline = performance.now() + 1500;
      while (calls === before && performance.now() < deadline) await sleep(10);
      await sleep(times.quietMs * 4);
      return calls - before;
    },
  };
}

t.test('[8.watch] in-place writes, rename-over, deletion and creation are each reported once', async (t) => {
  const folder = makeFolder(t);
  const file = path.join(folder, 'config.yaml');
  writeFileSync(file, 'a');
  const { changesAfter } = watchIn(t, [file, path.join(folder, 'config.json')]);
  t.equal(await changesAfter(() => writeFileSync(file, 'b')), 1, 'written in place');
  t.equal(await changesAfter(() => appendFileSync(file, 'b')), 1, 'appended');
  t.equal(
    await changesAfter(() => {
      writeFileSync(`${file}.new`, 'c');
      renameSync(`${file}.new`, file);
    }),
    1,
    'renamed over',
  );
  t.equal(await changesAfter(() => rmSync(file)), 1, 'deleted');
  t.equal(await changesAfter(() => writeFileSync(file, 'd')), 1, 'created');
  t.equal(
    await changesAfter(() => writeFileSync(path.join(folder, 'config.json'), '{}')),
    1,
    'another created',
  );
});

t.test('[8.watch-others] other files in the folder are not reported', async (t) => {
  const folder = makeFolder(t);
  const file = path.join(folder, 'config.yaml');
  writeFileSync(file, 'a');
  const { changesAfter } = watchIn(t, [file], { ...FAST });
  const before = performance.now();
  t.equal(
    await Promise.race([changesAfter(() => writeFileSync(path.join(folder, 'other'), 'b')), sleep(400, 0)]),
    0,
  );
  checkTime(t, performance.now() - before, 1000, 'the wait');
});

t.test('[8.watch-folder] a folder that is moved away, deleted or missing', async (t) => {
  const base = makeFolder(t);
  const folder = path.join(base, 'etc');
  const file = path.join(folder, 'config.yaml');
  const { changesAfter } = watchIn(t, [file]);
  const create = () => {
    mkdirSync(folder);
    writeFileSync(file, 'a');
  };
  t.equal(await changesAfter(create), 1, 'the folder comes');
  t.equal(await changesAfter(() => writeFileSync(file, 'b')), 1, 'and is watched');
  t.equal(await changesAfter(() => renameSync(folder, `${folder}.old`)), 1, 'moved away');
  t.equal(await changesAfter(create), 1, 'another in its place');
  t.equal(await changesAfter(() => writeFileSync(file, 'c')), 1, 'is watched');
  t.equal(await changesAfter(() => rmSync(folder, { recursive: true })), 1, 'deleted');
  t.equal(await changesAfter(create), 1, 'and again');
  t.equal(
    await changesAfter(() => {
      rmSync(folder, { recursive: true });
      create();
    }),
    1,
    'replaced immediately',
  );
  t.equal(await changesAfter(() => writeFileSync(file, 'dd')), 1, 'and watched');
});

t.test('[8.watch-links] a link, its target, and a link in the path', async (t) => {
  const base = makeFolder(t);
  const at = (name: string) => path.join(base, name);
  for (const version of ['v1', 'v2']) {
    mkdirSync(at(`mount/${version}`), { recursive: true });
    writeFileSync(at(`mount/${version}/config.yaml`), version);
  }
  // As Kubernetes mounts a ConfigMap: the file links through ..data, which is swapped.
  symlinkSync('v1', at('mount/..data'));
  symlinkSync('..data/config.yaml', at('mount/config.yaml'));
  const { changesAfter } = watchIn(t, [at('mount/config.yaml')]);
  t.equal(
    await changesAfter(() => {
      symlinkSync('v2', at('mount/..new'));
      renameSync(at('mount/..new'), at('mount/..data'));
    }),
    1,
    'the link on the way is swapped',
  );
  t.equal(
    await changesAfter(() => writeFileSync(at('mount/v2/config.yaml'), 'changed')),
    1,
    'the target is written',
  );
});

t.test('[8.watch-storm] a storm of renames neither starves the change nor burns the processor', async (t) => {
  const folder = makeFolder(t);
  const file = path.join(folder, 'config.yaml');
  writeFileSync(file, 'a');
  const { count } = watchIn(t, [file], { quietMs: 100, maxMs: 500, pollMs: 5000 });
  const started = performance.now();
  let first: number | undefined;
  const renames = 400;
  const cpu = process.cpuUsage();
  // On a busy machine the storm itself pauses, and after each calm of 100 ms a change is reported.
  let pauses = 0;
  let renamedAt = started;
  for (let index = 0; index < renames; index++) {
    writeFileSync(`${file}.new`, String(index));
    renameSync(`${file}.new`, file);
    if (performance.now() - renamedAt > 50) pauses++;
    renamedAt = performance.now();
    await sleep(Math.max(0, started + (index + 1) * 5 - performance.now()));
    if (count() > 0) first ??= performance.now() - started;
  }
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  t.ok(first !== undefined, 'reported while the storm goes on');
  checkTime(t, first ?? Number.POSITIVE_INFINITY, 800, 'first report');
  t.ok(count() >= 2, `reported ${count()} times in ${seconds.toFixed(1)} s`);
  t.ok(count() <= seconds * 2 + 1 + pauses, `not more than twice a second, and after ${pauses} pauses`);
  t.ok(
    (user + system) / 1e6 < seconds / 2,
    `${((user + system) / 1e4 / seconds).toFixed(0)} % of a processor, the renames included`,
  );
  const during = count();
  await sleep(300);
  t.ok(count() - during <= 1, 'once more for the last, then silence');
});

t.test('[8.watch-paths] setPaths adds and removes files, and loses no change', async (t) => {
  const folder = makeFolder(t);
  const [a, b] = [path.join(folder, 'x/a'), path.join(folder, 'y/b')];
  for (const file of [a, b]) {
    mkdirSync(path.dirname(file));
    writeFileSync(file, '1');
  }
  const { watcher, changesAfter } = watchIn(t, [a]);
  t.equal(await Promise.race([changesAfter(() => writeFileSync(b, '2')), sleep(300, 0)]), 0);
  watcher.setPaths([a, b]);
  t.equal(await changesAfter(() => writeFileSync(b, '3')), 1);
  t.equal(
    await changesAfter(() => {
      writeFileSync(a, '4');
      watcher.setPaths([a]);
    }),
    1,
    'a change that was not yet reported',
  );
  t.equal(
    await Promise.race([changesAfter(() => writeFileSync(b, '5')), sleep(300, 0)]),
    0,
    'no longer watched',
  );
});

t.test('[8.watch-close] after close nothing is reported, and nothing keeps the process alive', async (t) => {
  const folder = makeFolder(t);
  const file = path.join(folder, 'config.yaml');
  writeFileSync(file, 'a');
  const { watcher, count } = watchIn(t, [file, path.join(folder, 'gone/config.yaml')]);
  writeFileSync(file, 'b');
  await sleep(10);
  watcher.close();
  writeFileSync(file, 'c');
  mkdirSync(path.join(folder, 'gone'));
  writeFileSync(path.join(folder, 'gone/config.yaml'), 'c');
  await sleep(400);
  t.equal(count(), 0);
  watcher.close();
});
