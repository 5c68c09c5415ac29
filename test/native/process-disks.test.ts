/** Disk reads and writes of processes through the addon: of imaginary ones, and of this one. */
import { spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { openNativeProcesses } from '#src/host/native.js';
import { rowOf } from '#src/host/process-columns.js';
import type { ProcessColumns, ProcessHost } from '#src/host/processes.js';
import { PATIENCE_MS } from '../helpers/limits.ts';
import type { Entry } from '../helpers/machine/tree.ts';
import { processesOf, readNext, statLine } from './process-tree.ts';

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
  t.strictSame(both(await host.read()), [null, null], 'a list has none');
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

t.test('[3.history-disk] this process: what it writes to a disk', async (t) => {
  // Below /tmp there may be no disk.
  const folder = mkdtempSync(path.join(import.meta.dirname, 'disk-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const host = openNativeProcesses();
  const writtenIn = (columns: ProcessColumns) =>
    columns.writeBytes?.[rowOf(columns, process.pid) ?? -1] ?? -1;
  const before = writtenIn(await readWithDisks(host));
  t.ok(before >= 0, 'its own are never hidden');
  const fd = openSync(path.join(folder, 'file'), 'w');
  writeSync(fd, Buffer.alloc(4 * 2 ** 20, 1));
  fsyncSync(fd);
  closeSync(fd);
  const after = writtenIn(await readWithDisks(host));
  t.ok(after - before >= 4 * 2 ** 20, `${after - before} bytes`);
});
