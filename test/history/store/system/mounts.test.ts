/** A disk that is full, and one that becomes read-only: recording pauses with one line, and resumes automatically. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { sqliteTests } from '../../../helpers/machine/sqlite-node.ts';
import { programPath } from '../../../helpers/native/program.ts';
import { emptyFolder } from '../../../helpers/scope.ts';
import { until } from '../../../helpers/until.ts';
import { BEGIN, readAll, rigIn, StoreRig, slotAt, soundnessOf } from '../harness.ts';

const test = await sqliteTests(t, import.meta.filename, { mounts: true });

/** A filesystem of 4 MiB, in this process's mount namespace. */
function mountSmall(t: Test): string {
  const point = path.join(emptyFolder(t), 'disk');
  mkdirSync(point);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', point]);
  t.teardown(() => execFileSync('umount', ['--lazy', point]));
  return point;
}

const remount = (point: string, how: 'ro' | 'rw') =>
  execFileSync('mount', ['-o', `remount,${how}`, point], { stdio: ['ignore', 'ignore', 'pipe'] });

/** Takes all that is free; returns the name of the file that does. */
function fill(point: string): string {
  const file = path.join(point, 'filler');
  const descriptor = openSync(file, 'w');
  for (const size of [65_536, 4096, 1])
    for (;;)
      try {
        writeSync(descriptor, Buffer.alloc(size));
        fsyncSync(descriptor);
      } catch {
        break;
      }
  closeSync(descriptor);
  return file;
}

function rigOn(t: Test, point: string): StoreRig {
  const rig = rigIn(t, point);
  rig.open();
  return rig;
}

/** Slots of `minutes`; the clock moves with them, so that a write that failed is tried again. */
async function record(rig: StoreRig, from: number, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) await rig.record(from + minute * 60, 1);
}

for (const [name, close] of [
  ['a disk that is full', false],
  ['a disk that is full when the service ends', true],
] as const)
  test(name, async (t) => {
    const point = mountSmall(t);
    const rig = rigOn(t, point);
    await record(rig, BEGIN, 20);
    const filler = fill(point);
    // Until its own pages are used up too.
    while (rig.lines.length === 0 && rig.now < BEGIN + 7200) await record(rig, rig.now, 1);
    t.match(rig.lines, [
      /^error: history\.path: recording on disk is paused: .*: the disk is full; retrying/,
    ]);
    const failedAt = rig.now;
    await record(rig, failedAt, 5);
    t.equal(rig.lines.length, 1, 'one line');
    const written = (failedAt - 60 - BEGIN) / 10;
    t.equal((await readAll(rig.store, BEGIN, rig.now)).slots.length, written, 'what is there can be read');
    if (close) {
      t.equal(await rig.close(), true);
      t.equal(soundnessOf(rig.path), 'ok');
      rmSync(filler);
      rig.open();
    } else rmSync(filler);
    await record(rig, failedAt + 300, 1);
    const { slots } = await readAll(rig.store, BEGIN, failedAt + 360);
    if (close) t.equal(slots.length, written + 6, 'what waited is lost, and no more');
    else {
      t.equal(slots.length, written + 42, 'nothing was lost in 6 minutes');
      t.match(rig.lines[1], /^info: history\.path: recording on disk continues; nothing was lost$/);
    }
    t.equal(rig.lines.length, close ? 1 : 2);
    await rig.close();
    t.equal(soundnessOf(rig.path), 'ok');
  });

test('a disk that is full for longer than the queue', async (t) => {
  const point = mountSmall(t);
  const rig = rigOn(t, point);
  await record(rig, BEGIN, 1);
  const filler = fill(point);
  while (rig.lines.length === 0 && rig.now < BEGIN + 7200) await record(rig, rig.now, 1);
  const failedAt = rig.now;
  await record(rig, failedAt, 20);
  rmSync(filler);
  await record(rig, failedAt + 1200, 1);
  const lost = Number(/^info: .* continues; (\d+) slots? of 10 s lost$/.exec(rig.lines[1] ?? '')?.[1]);
  const { slots } = await readAll(rig.store, failedAt - 60, failedAt + 1260);
  t.equal(slots.length + lost, 132, 'each is there or counted');
  t.ok(slots.length >= 60, 'at least the newest 10 minutes are there');
  t.equal(slots.at(-1)?.at, failedAt + 1250);
  t.equal(rig.lines.length, 2);
});

test('a disk that is made read-only, before the start and while it runs', async (t) => {
  const point = mountSmall(t);
  remount(point, 'ro');
  const rig = rigOn(t, point);
  await record(rig, BEGIN, 1);
  t.match(rig.lines, [/^error: history\.path: recording on disk is paused: .*(?:EROFS|cannot be written)/]);
  remount(point, 'rw');
  await record(rig, BEGIN + 60, 1);
  t.equal((await readAll(rig.store, BEGIN, BEGIN + 120)).slots.length, 12);
  t.equal(rig.lines.length, 2);
});

/** Whether a thread of this process stays in a system call that nothing interrupts, as on a disk that hangs. */
function hasHangingThread(): boolean {
  const stateOf = (task: string) => {
    try {
      return /\) (\S) /.exec(readFileSync(`/proc/self/task/${task}/stat`, 'utf8'))?.[1];
    } catch {
      return undefined; // It has exited since it was listed.
    }
  };
  const hanging = () => readdirSync('/proc/self/task').filter((task) => stateOf(task) === 'D');
  let still = hanging();
  // Others wait for a page in memory, which takes no second.
  for (let look = 0; look < 10 && still.length > 0; look++) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    const now = hanging();
    still = still.filter((task) => now.includes(task));
  }
  return still.length > 0;
}

test('a disk that does not answer: one line, and nothing waits for it', async (t) => {
  const point = path.join(emptyFolder(t), 'hung');
  mkdirSync(point);
  const server = spawn(programPath('hung_mount'), [point], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(server, 'exit');
  t.teardown(async () => {
    server.stdin.end();
    await ended;
    execFileSync('umount', ['--lazy', point]);
  });
  await once(server.stdout, 'data');
  const rig = new StoreRig(path.join(point, 'history.db'));
  rig.closeLimitMs = 100;
  rig.open();
  // The worker starts in real time.
  await until(hasHangingThread);
  // Without waiting for anything, as a service would.
  for (let minute = 0; minute < 60; minute++) {
    for (let second = 0; second < 60; second += 10) rig.store.put(slotAt(BEGIN + minute * 60 + second));
    rig.now += 60;
    await rig.clock.advance(60_000);
  }
  t.match(rig.lines, [/^error: history\.path: .*history\.db has not responded for 30 s; retrying/]);
  t.equal(rig.lines.length, 1);
  const reading = readAll(rig.store, BEGIN, BEGIN + 600);
  const running = rig.store.processesAt(BEGIN);
  const failures = [t.rejects(reading, /not responding/), t.rejects(running, /not responding/)];
  await rig.clock.advance(6000);
  await Promise.all(failures);
  // The clock stands still.
  await t.rejects(readAll(rig.store, BEGIN, BEGIN + 600), /not responding/, 'the next one does not wait');
  t.equal(await rig.close(), false, 'its thread hangs');
});
