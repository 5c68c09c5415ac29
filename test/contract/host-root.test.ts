/** A service that was given another root: its figures are those below it. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { describeContainer, isContainer, rootsOf } from '#src/host/roots.js';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { serveProgram } from '../helpers/service/service.ts';

interface Usage {
  readonly disks: readonly { readonly fs: string; readonly used: number; readonly available: number }[];
  readonly memory: { readonly used: number; readonly free: number };
  readonly processes?: { readonly count: number } | null;
}

const statOf = (pid: number) =>
  `${pid} (app) S 1 1 1 0 -1 4194560 1 2 3 4 7 5 8 9 20 -5 3 0 250 999 2 18446744073709551615 0\n`;

t.test('[8.host-root] with host.root the disks, memory and processes are those below it', async (t) => {
  const root = t.testdir({
    host: {
      proc: {
        stat: 'cpu  100 20 30 800 10 3 2 0 0 0\ncpu0 100 20 30 800 10 3 2 0 0 0\n',
        meminfo: 'MemTotal: 2097152 kB\nMemFree: 524288 kB\nMemAvailable: 1048576 kB\n',
        uptime: '1000 1000\n',
        self: {
          mountinfo:
            '30 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n31 30 8:2 / /data rw - ext4 /dev/sda2 rw\n',
        },
        ...Object.fromEntries([1, 7, 300].map((pid) => [pid, { stat: statOf(pid) }])),
      },
      sys: {},
      data: {},
    },
  });
  const service = await serveProgram(t, { config: { host: { root: path.join(root, 'host'), name: 'nas' } } });
  const read = async () =>
    // The contract's shape, which other tests check.
    jsonOf(await ask(service.port, '/api/usage?detail=1')) as unknown as Usage;
  let usage = await read();
  // Mount points are listed by a prober, and measured by another one; processes are read on a thread of their own.
  while (usage.disks.length < 2 || usage.processes == null) {
    await sleep(100);
    usage = await read();
  }
  t.strictSame(
    usage.disks.map(({ fs }) => fs),
    ['/', '/data'],
    'mount points without the prefix',
  );
  t.ok(
    usage.disks.every(({ used, available }) => used + available > 0),
    'which have sizes',
  );
  t.equal(usage.memory.used + usage.memory.free, 2 ** 31);
  t.equal(usage.processes.count, 3);
  t.match(usage, { host: 'nas' });
});

t.test('[8.host-root] host.proc and host.sys stand below it, unless they are set', async (t) => {
  const host = { proc: '/proc', sys: '/sys', root: undefined, name: undefined };
  t.strictSame(rootsOf(host), { proc: '/proc', sys: '/sys' });
  t.strictSame(rootsOf({ ...host, root: '/host' }), { proc: '/host/proc', sys: '/host/sys', files: '/host' });
  t.strictSame(rootsOf({ ...host, root: '/host', proc: '/p' }), {
    proc: '/p',
    sys: '/host/sys',
    files: '/host',
  });
});

t.test('[8.host-root] a container without it says what is its own', async (t) => {
  const host = { proc: '/proc', sys: '/sys', root: undefined, name: undefined };
  t.equal(describeContainer(host, false), undefined);
  t.match(describeContainer(host, true), {
    reason: "the container's own are shown (disks, network, processes, host name)",
    remedy:
      /^mount the host's root folder read-only at \/host, and set host\.root to \/host; set host\.name$/,
  });
  t.match(describeContainer({ ...host, root: '/host' }, true), { reason: /shown \(host name\)$/ });
  t.equal(describeContainer({ ...host, root: '/host', name: 'nas' }, true), undefined);
  t.ok(isContainer((file) => file === '/run/.containerenv'));
  t.notOk(isContainer(() => false));
});
