/**
 * What hangs in the kernel costs others nothing, neither time on the main thread nor fresh values: filesystems, and
 * sensors, which cost only the values of their own chip. When they answer again, so do their chips.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import readline from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { DiskCounters } from '#src/host/host.js';
import { checkTime, PATIENCE_MS } from '../../helpers/limits.ts';
import { type HungMounts, openMountSpace, whyNoMountSpace } from '../../helpers/machine/hung-mounts.ts';
import { makeMachine, type Tree } from '../../helpers/machine/tree.ts';
import { percentile } from '../../helpers/service/media.ts';
import type { Reading, TickLine } from '../tick-host.ts';

const PROGRAM = path.join(import.meta.dirname, '../tick-host.js');
const EACH = 32;
const MAX_LATER_MS = 5;
const MAX_EXTRA_BYTES = 2e6;
const STDIO = ['pipe', 'pipe', 'inherit'] as const;

/** The lines that a tick-host prints, as they arrive. */
function listenTo(child: ChildProcess) {
  const readings: Reading[] = [];
  const systemTimes: number[] = [];
  if (child.stdout === null) throw new Error('no pipe');
  readline.createInterface({ input: child.stdout }).on('line', (line) => {
    // Our own program's line.
    const parsed = JSON.parse(line) as TickLine;
    if ('disks' in parsed) readings.push(parsed);
    else systemTimes.push(parsed.systemTook);
  });
  return { child, readings, systemTimes };
}

const diskAt = (reading: Reading | undefined, point: string) =>
  reading?.disks.find((disk) => disk.mountPoint === point);
const isFresh = (disk: DiskCounters | undefined) => disk?.usage != null && disk.isStale === false;
const areFresh = (reading: Reading | undefined, mounts: HungMounts) =>
  mounts.points.every((point) => isFresh(diskAt(reading, point)));

/** The least memory of the last 30 readings. */
const leastOf = (readings: readonly Reading[]) => Math.min(...readings.slice(-30).map(({ bytes }) => bytes));

/** Milliseconds until `isTrue`, asked every 20 ms. */
async function waitFor(what: string, isTrue: () => boolean): Promise<number> {
  const started = performance.now();
  while (!isTrue()) {
    if (performance.now() - started > PATIENCE_MS) throw new Error(`${what}: never`);
    await sleep(20);
  }
  return performance.now() - started;
}

t.setTimeout(300_000);
const reason = whyNoMountSpace();

t.test('[3.disks-hang] sixty-four filesystems that hang', { skip: reason ?? false }, async (t) => {
  const space = await openMountSpace(t);
  const silent = await space.mountHung(EACH);
  const later = await space.mountHung(EACH);
  await later.answer();

  // The same program beside it sees none of them: if both are late, the cause is the machine.
  const without = listenTo(spawn(process.execPath, [PROGRAM], { stdio: [...STDIO] }));
  const inside = listenTo(space.start(process.execPath, [PROGRAM], { stdio: [...STDIO] }));
  t.teardown(() => {
    without.child.kill();
    inside.child.kill();
  });
  const latest = () => inside.readings.at(-1);
  await waitFor('answers of those that answer', () => areFresh(latest(), later));
  t.same(diskAt(latest(), later.points[0] ?? '')?.usage, {
    totalBytes: 4096000,
    freeBytes: 1024000,
    availableBytes: 819200,
  });

  // Time to load what a reading needs.
  await sleep(5000);
  const before = [leastOf(inside.readings), leastOf(without.readings)] as const;
  await later.hang();
  const hungAt = inside.readings.length;
  const isKept = (point: string) => {
    const disk = diskAt(latest(), point);
    return disk?.usage?.totalBytes === 4096000 && disk.isStale === true;
  };
  const noticed = await waitFor('stale', () => later.points.every(isKept));
  t.pass(`those that hang later keep their values and are stale after ${Math.round(noticed)} ms`);
  await checkLateness(t, inside.readings, without.readings);
  const grown = leastOf(inside.readings) - before[0];
  const usual = leastOf(without.readings) - before[1];
  t.ok(grown - Math.max(0, usual) <= MAX_EXTRA_BYTES, `${grown} bytes more memory, ${usual} without them`);

  const measured = inside.readings.slice(hungAt);
  for (const point of silent.points) {
    const isNeverAnswered = (reading: Reading) => {
      const disk = diskAt(reading, point);
      return disk !== undefined && disk.usage === null && disk.isStale === true;
    };
    t.ok(measured.every(isNeverAnswered), 'one that never answered has no usage and is stale');
  }
  t.ok(later.points.every(isKept), 'one that answered before keeps its last values');
  const fresh = measured.filter((reading) => isFresh(diskAt(reading, '/'))).length;
  t.ok(fresh >= measured.length * 0.95, `/ is fresh in ${fresh} of ${measured.length} readings`);
  t.ok(isFresh(diskAt(latest(), '/')), 'and in the last one');
  await waitFor('readSystem answers meanwhile', () => inside.systemTimes.length >= 3);

  await Promise.all([silent.answer(), later.answer()]);
  const recovered = await waitFor(
    'fresh again',
    () => areFresh(latest(), silent) && areFresh(latest(), later),
  );
  t.pass(`all are fresh ${Math.round(recovered)} ms after they answer again`);

  const added = await space.mountHung(1);
  const point = added.points[0] ?? '';
  await waitFor('a new mount', () => diskAt(latest(), point) !== undefined);
  t.pass('a mount that appears is seen, as poll on the mount table says');

  await Promise.all([silent.hang(), later.hang()]);
  const areHung = () =>
    [silent, later].every(({ points }) => points.every((point) => diskAt(latest(), point)?.isStale));
  await waitFor('hung again', areHung);
  const exited = once(inside.child, 'exit');
  const started = performance.now();
  inside.child.stdin?.end();
  const [code] = await exited;
  const took = performance.now() - started;
  t.equal(code, 0, 'the process ends by itself with its threads stuck');
  checkTime(t, took, 1000, 'the end');
});

/** Over 30 readings in which both programs run side by side, so that delays of the machine affect both. */
async function checkLateness(
  t: Pick<typeof import('tap').default, 'ok' | 'comment'>,
  inside: readonly Reading[],
  without: readonly Reading[],
): Promise<void> {
  const first = inside.length;
  const start = Date.now();
  await waitFor('30 readings', () => inside.length >= first + 30);
  const hung = inside.slice(first);
  const free = without.filter((reading) => reading.at >= start);
  const lateness = (readings: readonly Reading[]) => readings.map((reading) => reading.late + reading.took);
  const took = (readings: readonly Reading[]) =>
    percentile(
      readings.map((reading) => reading.took),
      0.5,
    );
  t.comment(
    `the median call takes ${took(hung).toFixed(2)} ms with them and ${took(free).toFixed(2)} ms without`,
  );
  const difference = percentile(lateness(hung), 0.99) - percentile(lateness(free), 0.99);
  checkTime(t, difference, MAX_LATER_MS, 'p99 of lateness with them, beyond that without');
}

const CHIPS = 12;
const HUNG = 4;

const chip = (number: number, target?: string): Tree => ({
  [`sys/class/hwmon/hwmon${number}/name`]: `chip${number}\n`,
  [`sys/class/hwmon/hwmon${number}/temp1_input`]: target === undefined ? '40000\n' : { link: target },
  [`sys/class/hwmon/hwmon${number}/temp2_input`]: '41000\n',
});

t.test('[3.sensors-failing] four of twelve chips hang', { skip: reason ?? false }, async (t) => {
  const space = await openMountSpace(t);
  const mounts = await space.mountHung(HUNG);
  let tree: Tree = {
    'sys/class/power_supply/BAT0/type': 'Battery\n',
    'sys/class/power_supply/BAT0/uevent': 'POWER_SUPPLY_CAPACITY=50\n',
  };
  // Opening a file of such a filesystem waits for its server, as a read of a sensor waits for its driver.
  for (let number = 0; number < CHIPS; number++)
    tree = { ...tree, ...chip(number, mounts.points[number] && `${mounts.points[number]}/temp`) };
  const machine = makeMachine(t, tree);
  const { child, readings } = listenTo(
    space.start(process.execPath, [PROGRAM, machine.root], { stdio: [...STDIO] }),
  );
  t.teardown(() => child.kill());
  const sensors = () => readings.at(-1)?.sensors ?? [];
  const answering = () => sensors().filter(({ value }) => value !== null).length;

  await waitFor('values', () => answering() === 2 * (CHIPS - HUNG));
  t.equal(sensors().length, 2 * CHIPS, 'those that hang are there, without values');
  t.strictSame(
    sensors()
      .filter(({ value }) => value === null)
      .map(({ chip: name }) => name),
    Array.from({ length: 2 * HUNG }, (_, at) => `chip${Math.floor(at / 2)}`),
  );
  const areFailing = () => sensors().every(({ failure }, at) => at >= 2 * HUNG || failure === 'no answer');
  await waitFor('the reason', areFailing);
  machine.write({ 'sys/class/hwmon/hwmon11/temp1_input': '55000\n' });
  await waitFor('another value', () => sensors()[22]?.value === 55);
  t.equal(readings.at(-1)?.batteries, 1);

  await waitFor('30 readings', () => readings.length >= 30);
  // Without the first, which loads its libraries.
  const seen = readings.slice(1);
  const latest = Math.max(...seen.map(({ late }) => late));
  const longest = Math.max(...seen.map(({ took }) => took));
  checkTime(t, longest, 50, 'no reading waited; the longest');
  t.comment(
    `figure: 4 of 12 sensor chips hang: readings late by ${latest.toFixed(1)} ms at most, took ${longest.toFixed(2)} ms at most`,
  );

  await mounts.answer();
  // The filesystem has no such file: that is an answer too, and the other input of the chip is read again.
  await waitFor('answers', () => sensors()[1]?.value === 41 && sensors()[7]?.value === 41);
  t.match(sensors()[0]?.failure, /^open .*temp1_input: /);
});
