/** Readings of processes through the addon: odd names, command lines that hang, disk reads and writes, and this machine's own. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { openNativeProcesses } from '#src/host/native.js';
import { nameOf, rowOf } from '#src/host/process-columns.js';
import type { ProcessColumns, ProcessHost } from '#src/host/processes.js';
import { diskRatesOf } from '#src/processes/shares.js';
import { checkTime, PATIENCE_MS } from '../helpers/limits.ts';
import type { Entry } from '../helpers/machine/tree.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { processesOf, readNext, statLine } from './process-tree.ts';

const namesIn = (columns: ProcessColumns) => Array.from(columns.pids, (_, row) => nameOf(columns, row));

t.test('[7.processes] every column is in its place, by ascending number', async (t) => {
  const { host } = processesOf(t, {
    'proc/300/stat': statLine(300, 'later', { state: 'R', ppid: 12, rss: 1 }),
    'proc/12/stat': statLine(12, 'kworker/0:1-a-long-name', { flags: 0x00200040, rss: 0, ppid: 2 }),
    'proc/7/stat': statLine(7, 'app', { utime: 40, stime: 2, threads: 9, start: 12345, rss: 10 }),
    'proc/self/stat': statLine(7, 'app'),
    'proc/7x/stat': statLine(7, 'no number'),
    'proc/99/other': 'no stat',
    'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\nroot2:x:0:0::/:\nbad line\n:x:5:\nada:x:1000:1000::/:\n',
  });
  const all = await host.read();
  t.strictSame([...all.pids], [7, 12, 300]);
  t.strictSame(namesIn(all), ['app', 'kworker/0:1-a-long-name', 'later']);
  t.strictSame([...all.parentPids], [1, 2, 12]);
  t.strictSame(String.fromCharCode(...all.states), 'SSR');
  t.strictSame([...all.threads], [9, 3, 3]);
  t.strictSame([...all.startTicks], [12345, 250, 250]);
  t.strictSame([...all.cpuTicks], [42, 12, 12]);
  t.strictSame([...all.kernelThreads], [0, 1, 0]);
  const page = (all.residentBytes[2] ?? 0) as number;
  t.ok(page >= 4096);
  t.strictSame([...all.residentBytes], [10 * page, 0, page]);
  t.equal(all.machineTicks, 965, 'idle is among them');
  t.strictSame(
    [...all.userIds],
    [0, 0, 0].map(() => process.getuid?.() ?? 0),
    'who owns the folder',
  );
  if (process.getuid?.() === 0)
    t.strictSame(all.owners, { 0: 'root' }, 'the first entry counts, others are not sent');
});

t.test(
  '[7.processes-names] names may hold blanks, parentheses, newlines, and bytes that are not UTF-8',
  async (t) => {
    const odd = ['a) R 9 (b', '((', '', 'tab\there', 'line\nbreak', ')'];
    const tree: Record<string, Buffer> = {};
    odd.forEach((name, i) => {
      tree[`proc/${i + 1}/stat`] = statLine(i + 1, name);
    });
    tree['proc/90/stat'] = statLine(90, Buffer.from([0x61, 0xff, 0xc3]));
    tree['proc/91/stat'] = Buffer.from('91 (cut off) S 1 2 3');
    tree['proc/92/stat'] = Buffer.from('');
    const { host } = processesOf(t, tree);
    t.strictSame(namesIn(await host.read()), [...odd, 'a\uFFFD\uFFFD']);
  },
);

t.test(
  '[7.processes-names] a name that the kernel cut at 15 bytes is completed from the program, or the first word',
  async (t) => {
    const cases: readonly (readonly [string, string, string, string?])[] = [
      ['gnome-terminal-', '/usr/libexec/gnome-terminal-server\0--app\0', 'gnome-terminal-server'],
      ['gnome-terminal-', 'gnome-terminal-server', 'gnome-terminal-server'],
      ['chromium-browse', '/usr/lib/chromium-browser/chromium-browser --type=gpu /a/b', 'chromium-browser'],
      ['Isolated Web Co', '/usr/lib/firefox/firefox\0-contentproc\0', 'Isolated Web Co'],
      ['exactly-fifteen', '/bin/exactly-fifteen\0', 'exactly-fifteen'],
      [
        'a long name wit',
        '/a long name with blanks\0',
        'a long name with blanks',
        '/a long name with blanks',
      ],
      ['replaced-by-an-', 'x', 'replaced-by-an-upgrade', '/bin/replaced-by-an-upgrade (deleted)'],
      ['x-terminal-emul', '/usr/bin/x-terminal-emulator\0', 'x-terminal-emulator', '/usr/bin/xterm'],
      // Titles, which a key with the scope read must not see beyond the kernel's 15 bytes.
      ['npm exec deploy', 'npm exec deploy --token=secret\0\0\0', 'npm exec deploy', '/usr/bin/node'],
      ['celeryd: worker', 'celeryd: worker --broker redis:pw=secret', 'celeryd: worker', '/usr/bin/python3'],
      ['npm\texec\tdeploy', 'npm\texec\tdeploy\t--token=secret', 'npm\texec\tdeploy'],
      ['celeryd:worker:', 'celeryd:worker:pw=secret\0', 'celeryd:worker:'],
      ['worker-token=se', '/x/worker-token=secret\0', 'worker-token=se'],
      ['a-worker-at-pw@', '/x/a-worker-at-pw@secret\0', 'a-worker-at-pw@'],
      ['short', '/bin/short-but-longer\0', 'short'],
      ['no-command-line', '', 'no-command-line'],
    ];
    const tree: Record<string, Entry> = {};
    cases.forEach(([comm, cmdline, , program], i) => {
      tree[`proc/${i + 1}/stat`] = statLine(i + 1, comm);
      tree[`proc/${i + 1}/cmdline`] = cmdline;
      if (program !== undefined) tree[`proc/${i + 1}/exe`] = { link: program };
    });
    const cut = Buffer.concat([Buffer.from('fourteen-bytes'), Buffer.from('é').subarray(0, 1)]);
    tree['proc/50/stat'] = statLine(50, cut);
    tree['proc/50/cmdline'] = 'fourteen-bytesé\0';
    tree['proc/51/stat'] = statLine(51, 'kernel-thread-x', { flags: 0x00200000 });
    tree['proc/51/cmdline'] = 'kernel-thread-xyz\0';
    const { machine, host } = processesOf(t, tree);
    const expected = [...cases.map(([, , full]) => full), 'fourteen-bytesé', 'kernel-thread-x'];
    t.strictSame(namesIn(await host.read()), expected);
    machine.write({ 'proc/1/cmdline': 'gnome-terminal-other\0' });
    t.strictSame(namesIn(await host.read()), expected, 'asked once a process');
    machine.write({ 'proc/1/stat': statLine(1, 'gnome-terminal-', { start: 9999 }) });
    t.equal(
      namesIn(await host.read())[0],
      'gnome-terminal-other',
      'another process with its number is asked anew',
    );
  },
);

t.test('[7.processes-hang] a command line that cannot be read holds up nothing else', async (t) => {
  const tree: Record<string, Buffer | string> = {};
  for (const pid of [1, 2, 3, 4, 5, 6]) tree[`proc/${pid}/stat`] = statLine(pid, 'fifteen-bytes-x');
  tree['proc/6/cmdline'] = '/bin/fifteen-bytes-xyz\0';
  const { machine, host } = processesOf(t, tree);
  const hanging = [1, 3].map((pid) => path.join(machine.root, `proc/${pid}/cmdline`));
  // Opening a FIFO for reading waits for a writer.
  for (const file of hanging) t.equal(spawnSync('mkfifo', [file]).status, 0);
  const release = () => {
    for (const file of hanging) {
      const fd = openSync(file, 'r+');
      writeSync(fd, '/x/fifteen-bytes-xy\0');
      closeSync(fd);
    }
  };
  t.teardown(release);
  const took: number[] = [];
  let names: readonly string[] = [];
  for (let i = 0; i < 6; i++) {
    const began = performance.now();
    names = namesIn(await host.read());
    took.push(performance.now() - began);
    await sleep(210);
  }
  t.equal(names[5], 'fifteen-bytes-xyz', 'those behind it are read all the same');
  t.equal(names[0], 'fifteen-bytes-x', 'its own name stays cut');
  checkTime(t, Math.max(...took), 400, 'the longest reading');
  checkTime(t, took.at(-1) ?? Number.POSITIVE_INFINITY, 60, 'and then nobody waits');

  const began = performance.now();
  const details = await host.readDetails(3);
  checkTime(t, performance.now() - began, 800, 'details come without it');
  t.strictSame(details?.command, []);
  release();
  await sleep(50);
  t.equal(namesIn(await host.read())[0], 'fifteen-bytes-xy', 'known as soon as it answers');
});

t.test('[7.processes] a folder that is not a /proc, or is missing', async (t) => {
  const { host } = processesOf(t, {});
  t.equal((await host.read()).pids.length, 0);
  const gone = openNativeProcesses({ proc: '/nowhere-at-all' });
  await t.rejects(gone.read(), { code: 'ENOENT', message: /open \/nowhere-at-all/ });
  gone.ask(0);
  t.equal(gone.latest(), null);
  t.match(gone.whyNoControl(), /another root/);
});

t.test('[3.detail-processes] readings are made on another thread and picked up', async (t) => {
  const host = openNativeProcesses();
  host.ask(0);
  t.equal(host.latest(), null, 'nobody waits for the first one');
  const first = await readNext(host);
  t.not(rowOf(first, process.pid), undefined);
  t.ok((await readNext(host)).takenAtNs > first.takenAtNs);
  t.ok(first.spentNs > 0);
  // At most one reading that was asked for is still to come.
  const picked = new Set(Array.from({ length: 5 }, () => host.latest()));
  t.ok(picked.size <= 2, 'one that is picked up again is not converted again');
});

t.test('[7.processes] this machine: itself, and its children beside what their files say', async (t) => {
  const host = openNativeProcesses();
  const folder = mkdtempSync(path.join(tmpdir(), 'hostwire-proc-'));
  const program = path.join(folder, 'a-program-with-a-long-name');
  copyFileSync('/bin/sleep', program);
  const spawning = Date.now();
  const child = spawn(program, ['20'], { cwd: folder, stdio: 'ignore' });
  t.teardown(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  });
  await once(child, 'spawn');
  const spawned = Date.now();
  // It has been started, but may still be loading its libraries.
  await sleep(200);
  const pid = child.pid ?? 0;
  const all = await host.read();
  const row = rowOf(all, pid) ?? -1;
  t.equal(nameOf(all, row), 'a-program-with-a-long-name');
  t.equal(all.parentPids[row], process.pid);
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  t.equal(all.parentPids[row], field('PPid'));
  t.equal(all.userIds[row], field('Uid'));
  t.equal(all.threads[row], field('Threads'));
  // The kernel adds up each processor's part now and then; this file has the exact sum.
  const rssKib = field('VmRSS');
  t.ok(Math.abs((all.residentBytes[row] ?? 0) / 1024 - rssKib) <= 512, `${rssKib} KiB`);
  const startMs =
    all.unixMs - all.sinceBootNs / 1e6 + ((all.startTicks[row] ?? 0) / all.ticksPerSecond) * 1000;
  t.ok(startMs > spawning - 100 && startMs < spawned + 100, 'started when it was');

  const facts = await host.readDetails(pid);
  t.match(facts, {
    pid,
    path: program,
    folder,
    openFiles: readdirSync(`/proc/${pid}/fd`).length,
    command: [program, '20'],
  });
  t.equal(facts?.startTicks, all.startTicks[row]);
  t.equal(await host.readDetails(2 ** 31 - 1), null);
  const id = { pid, startTicks: all.startTicks[row] ?? 0 };
  t.strictSame(
    await host.readPaths([id, { ...id, startTicks: 1 }]),
    [program, null],
    'another one has no path of it',
  );
  const kernel = all.kernelThreads.indexOf(1);
  if (kernel >= 0) t.match(await host.readDetails(all.pids[kernel] ?? 0), { path: null, command: [] });
});

t.test('[7.processes-busy] too many questions at a time are refused, none is lost', async (t) => {
  const host = openNativeProcesses();
  const asked = await Promise.allSettled(Array.from({ length: 100 }, () => host.readDetails(process.pid)));
  const refused = asked.filter(({ status }) => status === 'rejected');
  t.ok(refused.length > 0 && refused.length < 100, `${refused.length} of 100 refused`);
  t.match(refused[0], { reason: { code: 'EAGAIN' } });
  t.match(await host.readDetails(process.pid), { pid: process.pid }, 'and afterwards all is well');
});

t.test('a worker may end while its questions are under way', async (t) => {
  const addon = path.resolve(import.meta.dirname, '../../../../dist/hostwire.node');
  const code = `
    const { Processes } = require(${JSON.stringify(addon)});
    const processes = new Processes({});
    const ask = () => processes.read().then(ask, () => undefined);
    for (let i = 0; i < 4; i++) ask();
    processes.waitForEnd([{ pid: 1, startTicks: 0 }], 0);
    processes.ask(0);
    processes.latest();
    require('node:worker_threads').parentPort.postMessage('on');`;
  for (let i = 0; i < 20; i++) {
    const worker = new Worker(code, { eval: true });
    await once(worker, 'message');
    await sleep(i);
    await worker.terminate();
  }
  await sleep(100);
  t.pass('nothing has crashed');
});

const statOf = (pid: number, start = 250) => statLine(pid, 'app', { start });

const ioOf = (read: number | string, written: number | string) =>
  `rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: ${read}\nwrite_bytes: ${written}\ncancelled_write_bytes: 9\n`;

function readWithDisks(host: ProcessHost): Promise<ProcessColumns> {
  host.includeDisks();
  return readNext(host);
}

const both = ({ readBytes, writeBytes }: ProcessColumns) => [
  readBytes && [...readBytes],
  writeBytes && [...writeBytes],
];

t.test('[3.history-disk] a reading has disks when it is asked for them, and then only', async (t) => {
  const { host } = processesOf(t, {
    'proc/3/stat': statOf(3),
    'proc/3/io': ioOf(905_216, 4096),
    'proc/12/stat': statOf(12),
    'proc/12/io': ioOf(0, '18446744073709551615'),
  });
  t.strictSame(both(await readNext(host)), [null, null]);
  t.strictSame(both(await readWithDisks(host)), [
    [905_216, 0],
    [4096, 2 ** 64],
  ]);
  t.strictSame(both(await readNext(host)), [null, null]);
  t.strictSame(both(await host.read()), [null, null], 'nor has a list');
  t.strictSame(both(await host.read(true))[0], [905_216, 0]);
});

t.test('[3.history-disk] an order for disks is kept by an order for a reading', async (t) => {
  const { host } = processesOf(t, { 'proc/3/stat': statOf(3), 'proc/3/io': ioOf(1, 2) });
  host.includeDisks();
  host.ask(3_600_000);
  t.strictSame(both(await readNext(host)), [[1], [2]]);
});

t.test('[3.history-disk] a process that hides them is NaN, and is not asked again', async (t) => {
  const { machine, host } = processesOf(t, {
    'proc/1/stat': statOf(1),
    'proc/2/stat': statOf(2),
    'proc/2/io': ioOf(7, 8),
    'proc/3/stat': statOf(3),
    'proc/3/io': 'read_bytes: 5\n',
    'proc/4/stat': statOf(4),
    'proc/4/io': ioOf('many', 'few'),
  });
  const hidden = Number.NaN;
  t.strictSame(both(await readWithDisks(host)), [
    [hidden, 7, hidden, hidden],
    [hidden, 8, hidden, hidden],
  ]);
  machine.write({ 'proc/1/io': ioOf(1, 1), 'proc/2/io': ioOf(70, 80) });
  t.strictSame(both(await readWithDisks(host))[0], [hidden, 70, hidden, hidden]);
  t.strictSame(both(await host.read(true))[0], [hidden, 70, hidden, hidden], 'nor for a list');
  machine.write({ 'proc/1/stat': statOf(1, 999) });
  t.strictSame(both(await readWithDisks(host))[0], [1, 70, hidden, hidden], 'another one with its number is');
});

t.test(
  '[3.history-disk-hang] a file that hangs costs the others nothing, after the first time',
  async (t) => {
    const tree: Record<string, Entry> = {};
    for (const pid of [1, 2, 3, 4]) {
      tree[`proc/${pid}/stat`] = statOf(pid);
      if (pid > 1) tree[`proc/${pid}/io`] = ioOf(pid, 0);
    }
    const { machine, host } = processesOf(t, tree);
    // Opening a FIFO for reading waits for a writer.
    const fifo = path.join(machine.root, 'proc/1/io');
    t.equal(spawnSync('mkfifo', [fifo]).status, 0);
    const release = () => {
      const fd = openSync(fifo, 'r+');
      writeSync(fd, ioOf(100, 100));
      return fd;
    };
    t.teardown(() => closeSync(release()));
    const hung = await readWithDisks(host);
    t.strictSame([...hung.pids], [1, 2, 3, 4]);
    t.strictSame(both(hung), [null, null], 'the list comes without them');
    t.strictSame(both(await readWithDisks(host))[0], [Number.NaN, 2, 3, 4]);
    const fd = release();
    t.teardown(() => closeSync(fd));
    const limitMs = performance.now() + PATIENCE_MS;
    let first: number | undefined = Number.NaN;
    while (first !== 100 && performance.now() < limitMs) {
      writeSync(fd, ioOf(100, 100));
      first = both(await readWithDisks(host))[0]?.[0];
    }
    t.equal(first, 100, 'it is asked again once it has answered');
  },
);

t.test('[7.process-disks] readings for lists at the same time as one for the history', async (t) => {
  const { host } = processesOf(t, { 'proc/3/stat': statOf(3), 'proc/3/io': ioOf(1, 2) });
  const readings = [readWithDisks(host), ...Array.from({ length: 20 }, () => host.read(true))];
  for (const reading of await Promise.all(readings)) t.strictSame(both(reading), [[1], [2]]);
});

/** Prints the bytes that it and its parent have written: null if they are hidden. */
const READER = `
  const { Processes } = require(process.argv[1]);
  new Processes({}).read(true).then(({ pids, writeBytes }) =>
    console.log(JSON.stringify([process.pid, process.ppid].map((pid) => writeBytes[pids.indexOf(pid)]))),
  );`;

t.test("[7.process-disks] another user's process is hidden, one's own is not", async (t) => {
  const isRoot = process.getuid?.() === 0;
  const folder = emptyFolder(t, 'reader');
  chmodSync(folder, 0o755);
  const addon = path.join(folder, 'hostwire.node');
  copyFileSync(path.resolve(import.meta.dirname, '../../../../dist/hostwire.node'), addon);
  const options = { cwd: folder, ...(isRoot && { uid: 65534, gid: 65534 }) };
  const [own, parent] = JSON.parse(String(execFileSync(process.execPath, ['-e', READER, addon], options)));
  t.type(own, 'number');
  if (isRoot) t.equal(parent, null);
  else t.type(parent, 'number', 'of the same user');
});

t.test('[3.history-disk] [7.process-disks] this process: what it writes to a disk', async (t) => {
  // Below /tmp there may be no disk.
  const folder = mkdtempSync(path.join(import.meta.dirname, 'disk-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const host = openNativeProcesses();
  const before = await host.read(true);
  const fd = openSync(path.join(folder, 'file'), 'w');
  writeSync(fd, Buffer.alloc(4 * 2 ** 20, 1));
  fsyncSync(fd);
  closeSync(fd);
  const after = await host.read(true);
  const rate = diskRatesOf({ before, after }).writes?.[rowOf(after, process.pid) ?? -1] ?? -1;
  const written = Math.round((rate * (after.takenAtNs - before.takenAtNs)) / 1e9);
  t.ok(written >= 4 * 2 ** 20 && written < 5 * 2 ** 20, `a rate of ${rate} for ${written} bytes`);
});
