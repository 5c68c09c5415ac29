/** Files at the path of the history, and changes to them: no user data is destroyed; the last uses of keys in them. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { KeyUses } from '#src/access/key-uses.js';
import { openSqlite } from '#src/history/store/sqlite.js';
import { sqliteTests } from '../../../helpers/machine/sqlite-node.ts';
import { emptyFolder } from '../../../helpers/scope.ts';
import { BEGIN, readAll, rigIn, type StoreRig, slotAt, soundnessOf } from '../harness.ts';

const test = await sqliteTests(t, import.meta.filename);

/** A minute passes, in which the store tries again. */
async function pass(rig: StoreRig): Promise<void> {
  rig.now += 80;
  await rig.clock.advance(80_000);
  await rig.settled();
}

const fileOf = (rig: StoreRig) => readFileSync(rig.path);

const PAUSES = /^error: history\.path: recording on disk is paused: /;

test('a belongs to another program is left as it is, and recording begins when it is gone', async (t) => {
  const others: readonly (readonly [string, (file: string) => void])[] = [
    ['text', (file) => writeFileSync(file, 'my notes\n'.repeat(100))],
    ['a few bytes', (file) => writeFileSync(file, 'SQLite')],
    [
      'a database',
      (file) => {
        const database = openSqlite(file);
        database.exec('CREATE TABLE mine (a); INSERT INTO mine VALUES (1)');
        database.close();
      },
    ],
  ];
  for (const [name, make] of others) {
    const rig = rigIn(t);
    make(rig.path);
    const before = fileOf(rig);
    rig.open();
    await rig.record(BEGIN, 1);
    await pass(rig);
    t.equal(rig.lines.length, 1, name);
    t.match(rig.lines[0], PAUSES);
    t.match(rig.lines[0], /history\.db: it belongs to another program, and is left unchanged;/);
    t.same(fileOf(rig), before, 'not a byte of it has changed');
    t.strictSame(readdirSync(path.dirname(rig.path)), ['history.db'], 'and nothing is beside it');
    await t.rejects(readAll(rig.store, BEGIN, BEGIN + 60), /belongs to another program/);
    rmSync(rig.path);
    await pass(rig);
    t.equal((await readAll(rig.store, BEGIN, BEGIN + 60)).slots.length, 6, 'what waited is there');
    t.match(rig.lines[1], /^info: history\.path: recording on disk continues; nothing was lost/);
    t.equal(rig.lines.length, 2);
  }
});

test('a file of a newer version is left as it is', async (t) => {
  const rig = rigIn(t);
  rig.open();
  await rig.record(BEGIN, 1);
  await rig.close();
  const database = openSqlite(rig.path);
  database.exec('PRAGMA user_version = 2');
  database.close();
  const before = fileOf(rig);
  rig.open();
  await rig.settled();
  t.match(rig.lines, [/written by a newer version of hostwire \(format 2; this version has 1\)/]);
  t.equal(await rig.close(), true);
  t.same(fileOf(rig), before);
});

test('a damaged file of ours is moved aside, also one that breaks while it is open', async (t) => {
  const rig = rigIn(t);
  const folder = path.dirname(rig.path);
  rig.open();
  await rig.record(BEGIN, 30);
  await rig.close();
  const whole = fileOf(rig);
  const damage = () => {
    // All pages but the first.
    const descriptor = openSync(rig.path, 'r+');
    writeSync(descriptor, Buffer.alloc(whole.length - 4096, 0x5a), 0, whole.length - 4096, 4096);
    const damaged = fileOf(rig);
    return damaged;
  };
  const damaged = damage();
  rig.now = BEGIN + 3600;
  rig.open();
  await rig.record(BEGIN + 3600, 1);
  t.equal((await readAll(rig.store, BEGIN, BEGIN + 3660)).slots.length, 6);
  const [aside = ''] = readdirSync(folder).filter((name) => name.includes('.corrupt-'));
  t.match(aside, /^history\.db\.corrupt-\d{4}-\d\d-\d\dT\d{6}$/);
  t.same(readFileSync(path.join(folder, aside)), damaged, 'with all that is left');
  t.match(rig.lines, [
    /^error: history\.path: .*history\.db is damaged: it was moved to .*, and a new file is created$/,
  ]);
  t.equal(rig.lines.length, 1);
  await rig.close();
  truncateSync(rig.path, 8192);
  rig.open();
  await rig.record(BEGIN + 7200, 1);
  t.equal(
    readdirSync(folder).filter((name) => name.includes('.corrupt-')).length,
    2,
    'each under its own name',
  );
  t.equal(rig.lines.length, 2);
  await rig.close();
  t.equal(soundnessOf(rig.path), 'ok');
});

test('a folder that is missing, and is made later', async (t) => {
  const folder = path.join(emptyFolder(t), 'later');
  const rig = rigIn(t, folder);
  rig.open();
  await rig.record(BEGIN, 2);
  t.equal(rig.lines.length, 1);
  t.match(rig.lines[0], PAUSES);
  t.match(rig.lines[0], `the folder ${folder} does not exist`);
  mkdirSync(folder);
  await pass(rig);
  t.equal((await readAll(rig.store, BEGIN, BEGIN + 120)).slots.length, 12);
  t.equal(rig.lines.length, 2);
});

test('anything but a file', async (t) => {
  const rig = rigIn(t);
  execFileSync('mkfifo', [rig.path]);
  rig.open();
  await rig.settled();
  t.match(rig.lines, [/it is not a file/]);
  await rig.close();
  rmSync(rig.path);
  mkdirSync(rig.path);
  rig.open();
  await rig.settled();
  t.match(rig.lines[1], PAUSES);
});

test('a removed file is noticed with the next minute, and a new one is begun', async (t) => {
  const rig = rigIn(t);
  rig.open();
  await rig.record(BEGIN, 2);
  rmSync(rig.path);
  await rig.record(BEGIN + 120, 1);
  t.match(rig.lines, [/^warn: history\.path: .*history\.db was removed; a new file is created$/]);
  t.equal((await readAll(rig.store, BEGIN, BEGIN + 180)).slots.length, 6);
  await rig.close();
  t.equal(soundnessOf(rig.path), 'ok');
  t.equal(rig.lines.length, 1);
});

test('a file that was put in its place is used, whole', async (t) => {
  const rig = rigIn(t);
  rig.open();
  await rig.record(BEGIN, 2);
  await rig.close();
  const backup = fileOf(rig);
  rig.open();
  await rig.record(BEGIN + 120, 30);
  writeFileSync(`${rig.path}.new`, backup, { mode: 0o640 });
  renameSync(`${rig.path}.new`, rig.path);
  await rig.record(BEGIN + 3600, 1);
  t.match(rig.lines, [/^warn: history\.path: .*history\.db was replaced; recording continues there$/]);
  const { slots } = await readAll(rig.store, BEGIN, BEGIN + 3660);
  t.equal(slots.length, 18, 'two minutes of the backup, and the new one');
  await rig.close();
  t.equal(soundnessOf(rig.path), 'ok');
  t.equal(statSync(rig.path).mode & 0o777, 0o640, 'the rights of a file that was there are the user’s');
});

test('a second service says so, and begins when the first has ended', async (t) => {
  const first = rigIn(t);
  first.open();
  await first.record(BEGIN, 1);
  const second = rigIn(t, path.dirname(first.path));
  second.open();
  await second.settled();
  t.match(second.lines, [/another process, such as a second hostwire, has it open/]);
  second.store.put(slotAt(BEGIN + 60));
  await first.record(BEGIN + 120, 1);
  t.equal((await readAll(first.store, BEGIN, BEGIN + 180)).slots.length, 12, 'the first is not disturbed');
  await first.close();
  second.now = first.now;
  await pass(second);
  t.equal((await readAll(second.store, BEGIN, BEGIN + 180)).slots.length, 13);
  t.strictSame(first.lines, []);
});

/** A run of the service at `now`, with the keys `names`. */
async function start(t: Test, folder: string, now: number, ...names: readonly string[]) {
  const rig = rigIn(t, folder);
  rig.now = now;
  const uses = new KeyUses(() => rig.now * 1000);
  uses.reconfigure(names);
  rig.keyUses = uses;
  rig.open();
  await rig.settled();
  return { rig, uses };
}

test('[10.keys-uses-disk] they are written within a minute, and read at the next start', async (t) => {
  const folder = emptyFolder(t);
  const first = await start(t, folder, BEGIN, 'phone', 'tv');
  first.uses.note('phone', '10.0.0.1');
  await first.rig.record(BEGIN, 1);
  // What is open is in use: it is news without a request.
  first.uses.opened('phone');
  await first.rig.record(BEGIN + 60, 1);
  t.ok(await first.rig.close());
  t.equal(statSync(first.rig.path).mode & 0o777, 0o600);

  const { rig, uses } = await start(t, folder, BEGIN + 200, 'phone', 'panel');
  t.strictSame(uses.of('phone'), { atMs: (BEGIN + 120) * 1000, address: '10.0.0.1', open: 0 });
  t.equal(uses.sinceMs, BEGIN * 1000, 'when the first run began');
  uses.note('panel', '2001:db8::1');
  t.ok(await rig.close(), 'and at the end');
  const third = await start(t, folder, BEGIN + 300, 'panel');
  t.match(third.uses.of('panel'), { atMs: (BEGIN + 200) * 1000, address: '2001:db8::1' });
  t.ok(await third.rig.close());
  const last = await start(t, folder, BEGIN + 400, 'phone');
  t.equal(last.uses.of('phone'), undefined, 'a key that was removed meanwhile is forgotten');
  t.strictSame([...first.rig.lines, ...rig.lines, ...last.rig.lines], []);
});

test('[10.keys-uses-disk] after a failure they are written with the next batch', async (t) => {
  const folder = emptyFolder(t);
  const file = path.join(folder, 'history.db');
  writeFileSync(file, 'of another program');
  const { rig, uses } = await start(t, folder, BEGIN, 'phone');
  uses.note('phone', '10.0.0.1');
  await rig.record(BEGIN, 1);
  t.match(uses.of('phone'), { address: '10.0.0.1' }, 'nothing waits for the disk');
  writeFileSync(file, '');
  // The first batch brings what an earlier run has left, the second one writes.
  await rig.record(BEGIN + 60, 2);
  t.ok(await rig.close());
  const next = await start(t, folder, BEGIN + 200, 'phone');
  t.match(next.uses.of('phone'), { atMs: BEGIN * 1000, address: '10.0.0.1' });
});
