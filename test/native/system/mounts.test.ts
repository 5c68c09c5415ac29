/** The mount table is read by a prober, also that of a sandbox; an unmounted filesystem never shows another's numbers. */
import '../../helpers/service/dead-buses.ts';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { SECTION_BITS } from '#src/host/host.js';
import { openMountSpace, whyNoMountSpace } from '../../helpers/machine/hung-mounts.ts';
import { emptyFolder } from '../../helpers/scope.ts';

t.setTimeout(280_000);
const DISKS = SECTION_BITS.disks;
const CHANGES = 10;
/** Readings without detail, at the end. */
const PLAIN = 20;
const MODULE = import.meta.resolve('#src/host/native.js');
const NODE = [process.execPath, '--input-type=module', '-e'] as const;

/** A folder mounted on itself and a tmpfs in it, doubled ten times; then the program given as arguments. */
const MANY = `set -e
  base=$1; shift
  mkdir "$base/all" && mount --bind "$base/all" "$base/all"
  for i in t 0 1 2 3 4 5 6 7 8 9; do mkdir "$base/all/$i"; done
  mount -t tmpfs none "$base/all/t"
  for i in 0 1 2 3 4 5 6 7 8 9; do mount --rbind "$base/all" "$base/all/$i"; done
  exec "$@"`;

/** Changes the table before each reading. Prints the number of mounts, and what the last reading shows. */
const CHANGING = `
  const { openNativeHost } = await import(process.argv[1]);
  const { accessSync, readFileSync } = await import('node:fs');
  const { spawnSync } = await import('node:child_process');
  const mark = (name) => { try { accessSync('/mark-' + name); } catch {} };
  const host = openNativeHost();
  const read = async (withDetail = true) => {
    mark('begin');
    const { disks } = host.readCounters(${DISKS}, withDetail, 0);
    mark('end');
    await new Promise((resolve) => setTimeout(resolve, 50));
    return disks;
  };
  const isRead = (disk) => disk.mountPoint === '/' && disk.usage !== null;
  while (!(await read()).some(isRead));
  await read(); // The files of the devices are open by now.
  mark('ready');
  const mountOrNot = [['mount', '-t', 'tmpfs', 'none', process.argv[2]], ['umount', process.argv[2]]];
  for (let i = 0; i < ${CHANGES}; i++) {
    const [command, ...args] = mountOrNot[i % 2];
    const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    await read();
  }
  const count = readFileSync('/proc/self/mountinfo', 'utf8').split('\\n').length - 1;
  console.log(JSON.stringify({ count, isRead: (await read()).some(isRead) }));
  for (let i = 0; i < ${PLAIN}; i++) await read(false);`;

function whyNotTraced(): string | undefined {
  const reason = whyNoMountSpace();
  if (reason !== undefined) return reason;
  const tried = spawnSync('strace', ['-o', '/dev/null', 'true'], { encoding: 'utf8' });
  return tried.status === 0 ? undefined : `strace cannot trace here: ${tried.stderr ?? tried.error}`;
}

const flags = [
  '--mount',
  '--propagation',
  'private',
  ...(process.getuid?.() === 0 ? [] : ['--map-root-user']),
];

t.test('2,000 mounts that change', { skip: whyNotTraced() ?? false }, (t) => {
  const folder = emptyFolder(t, 'many');
  const trace = path.join(folder, 'trace');
  const point = path.join(folder, 'all/t');
  // Without -f: the main thread alone.
  const traced = ['strace', '-y', '-o', trace, ...NODE, CHANGING, MODULE, point];
  const ran = spawnSync('unshare', [...flags, 'sh', '-c', MANY, 'sh', folder, ...traced], {
    encoding: 'utf8',
  });
  t.equal(ran.status, 0, ran.stderr);
  const seen: { readonly count: number; readonly isRead: boolean } = JSON.parse(ran.stdout);
  t.ok(seen.count > 2000, `${seen.count} mounts`);
  t.ok(seen.isRead, 'and / was asked');
  const [, changing = ''] = readFileSync(trace, 'latin1').split(/^.*mark-ready.*$/m);
  const readings = [...changing.matchAll(/mark-begin.*\n([\s\S]*?)\n.*mark-end/g)].map(([, calls = '']) =>
    calls.split('\n'),
  );
  t.equal(readings.length, CHANGES + 1 + PLAIN, 'all readings were traced');
  const count = (calls: readonly string[], pattern: RegExp) =>
    calls.filter((call) => pattern.test(call)).length;
  t.ok(
    readings.every((calls) => count(calls, /^poll\(.*POLLPRI/) === 1),
    'one poll a reading',
  );
  const others = readings
    .flat()
    .filter((call) => /^(?:open|read|pread|stat|statx|lstat|fstat|newfstat|readlink|getdents)/.test(call))
    .filter((call) => !/^pread64\(\d+<\/proc\/diskstats>/.test(call));
  t.same(others, [], 'nothing is opened, and nothing read but the counters of the devices');
  t.end();
});

/**
 * Unmounts a filesystem after a reading and before the next question how full it is, whose path then leads to the
 * filesystem above. Prints the sizes that the following readings show, until it is gone.
 */
const UNMOUNTING = `
  const { openNativeHost } = await import(process.argv[1]);
  const { spawnSync } = await import('node:child_process');
  const point = process.argv[2];
  const host = openNativeHost();
  const read = (nextInMs) => host.readCounters(${DISKS}, true, nextInMs).disks.find((d) => d.mountPoint === point);
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  while (read(0)?.usage == null) await sleep(20);
  read(1000);
  const { status, stderr } = spawnSync('umount', [point], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  await sleep(1100);
  const sizes = [];
  for (let disk = read(0); disk !== undefined; disk = read(0)) {
    sizes.push(disk.usage?.totalBytes ?? null);
    await sleep(20);
  }
  console.log(JSON.stringify(sizes));`;

t.test(
  'an unmounted filesystem keeps its own numbers until it is gone',
  { skip: whyNoMountSpace() ?? false },
  async (t) => {
    const space = await openMountSpace(t);
    const mounts = await space.mountHung(1);
    await mounts.answer();
    const [command, ...args] = NODE;
    const child = space.start(command, [...args, UNMOUNTING, MODULE, mounts.points[0] ?? ''], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    if (child.stdout === null) throw new Error('no pipe');
    const output = await text(child.stdout);
    await ended;
    const sizes: readonly number[] = JSON.parse(output);
    t.comment(`shown in ${sizes.length} readings after the unmount`);
    t.ok(
      sizes.every((size) => size === 4_096_000),
      'with the size that it had',
      { sizes },
    );
  },
);

/** Runs a program that reports on `/`, in a separate mount table where that is read-only. */
const SEALED = `mount -o remount,bind,ro / && exec "$0" --input-type=module -e '
  const { openNativeHost } = await import(process.argv[1]);
  const host = openNativeHost();
  const read = () => host.readCounters(${SECTION_BITS.disks}, true, 0).disks?.find((disk) => disk.mountPoint === "/");
  while (read()?.usage == null) await new Promise((resolve) => setTimeout(resolve, 10));
  console.log(read().isReadOnly, read().usage.totalBytes);
' "$1"`;

const FLAGS = ['--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])];

/** The options of `/` for the first process, the mount's and its filesystem's; undefined if not comparable. */
function optionsOfRoot(): readonly string[] | undefined {
  const table = readFileSync('/proc/1/mountinfo', 'utf8');
  const [, mount, filesystem] = [...table.matchAll(/^\d+ \d+ \S+ \S+ \/ (\S+) .* (\S+)$/gm)].at(-1) ?? [];
  return mount === undefined ? undefined : `${mount},${filesystem}`.split(',');
}

function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'for Linux';
  if (optionsOfRoot() === undefined) return 'the first process has no root to compare with';
  const tried = spawnSync('unshare', [...FLAGS, 'mount', '-o', 'remount,bind,ro', '/'], { encoding: 'utf8' });
  return tried.status === 0 ? undefined : `no right to a mount table: ${tried.stderr ?? tried.error}`;
}

t.test('read-only is reported as it is for the first process', { skip: whyNot() ?? false }, async (t) => {
  const module = import.meta.resolve('#src/host/native.js');
  const ran = spawnSync('unshare', [...FLAGS, 'sh', '-c', SEALED, process.execPath, module], {
    encoding: 'utf8',
    timeout: 240_000,
  });
  const [isReadOnly, totalBytes] = ran.stdout.trim().split(' ');
  t.equal(isReadOnly, String(optionsOfRoot()?.includes('ro')), `${ran.stdout}${ran.stderr}`);
  t.ok(Number(totalBytes) > 0);
});
