/** Limits of the service's control group, on machines made here: both versions, nested, hybrid, unreadable. */
import t, { type Test } from 'tap';
import type { LimitCounters } from '#src/host/details.js';
import { FOLDER, makeMachine, readUntil, type Tree } from '../helpers/machine/tree.ts';

const GIB = 1024 ** 3;
const CGROUP2 = '30 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n';
const NONE_V1 = '9223372036854771712\n';

/** `files` under the mount points; `own` is /proc/self/cgroup. */
const tree = (own: string, mountinfo: string, files: Tree = {}): Tree => ({
  'proc/self/cgroup': own,
  'proc/self/mountinfo': mountinfo,
  ...Object.fromEntries(Object.entries(files).map(([name, entry]) => [`sys/fs/cgroup/${name}`, entry])),
});

async function read(t: Test, machine: Tree): Promise<LimitCounters> {
  const { host, root } = makeMachine(t, machine);
  const { limits } = await readUntil(host, 0, true, (counters) => counters.limits !== null);
  if (!limits) throw new Error('no answer');
  const text: LimitCounters = JSON.parse(JSON.stringify(limits).replaceAll(root, ''));
  return text;
}

const NOTHING: LimitCounters = {
  memoryBytes: null,
  memoryUsedBytes: null,
  cpus: null,
  throttling: null,
  failure: null,
};

t.test('[3.limits] version 2: the lowest limit of the group and its ancestors', async (t) => {
  const own = '0::/user.slice/app.slice/hostwire.service\n';
  const found = await read(
    t,
    tree(own, CGROUP2, {
      'cpu.stat': 'usage_usec 1\n',
      'user.slice/memory.max': `${2 * GIB}\n`,
      'user.slice/memory.high': 'max\n',
      'user.slice/memory.current': `${GIB}\n`,
      'user.slice/cpu.max': '250000 100000\n',
      'user.slice/cpu.stat': 'usage_usec 9\nnr_periods 5\nnr_throttled 4\n',
      'user.slice/app.slice/memory.max': 'max\n',
      'user.slice/app.slice/memory.current': '1\n',
      'user.slice/app.slice/hostwire.service/memory.max': `${3 * GIB}\n`,
      'user.slice/app.slice/hostwire.service/memory.current': '2\n',
      'user.slice/app.slice/hostwire.service/cpu.max': '75000 50000\n',
      'user.slice/app.slice/hostwire.service/cpu.stat':
        'usage_usec 12\nuser_usec 8\nnr_periods 120\nnr_throttled 30\nthrottled_usec 4000\n',
    }),
  );
  t.strictSame(found, {
    memoryBytes: 2 * GIB,
    memoryUsedBytes: GIB,
    cpus: 1.5,
    throttling: {
      group: '/sys/fs/cgroup/user.slice/app.slice/hostwire.service',
      periods: 120,
      throttledPeriods: 30,
    },
    failure: null,
  });
});

t.test('[3.limits] memory.high counts; of two equal limits the outer one binds', async (t) => {
  const high = tree('0::/a/b\n', CGROUP2, {
    'a/memory.max': '4096000\n',
    'a/memory.high': '2048000\n',
    'a/memory.current': '1000\n',
    'a/b/memory.max': '2048000\n',
    'a/b/memory.high': 'max\n',
    'a/b/memory.current': '10\n',
  });
  t.match(await read(t, high), { memoryBytes: 2_048_000, memoryUsedBytes: 1000 });
});

t.test('[3.limits] a container: a namespace whose root has the limits, or a mount of its own', async (t) => {
  const files = { 'memory.max': '1048576\n', 'memory.current': '4096\n', 'cpu.max': 'max 100000\n' };
  const limited = { ...NOTHING, memoryBytes: 1_048_576, memoryUsedBytes: 4096 };
  t.strictSame(await read(t, tree('0::/\n', CGROUP2, files)), limited);
  const bind = CGROUP2.replace(' / /sys', ' /docker/9f /sys');
  t.strictSame(await read(t, tree('0::/docker/9f\n', bind, files)), limited);
  t.strictSame(
    await read(t, tree('0::/docker/9f/init\n', bind, { ...files, 'init/memory.max': 'max\n' })),
    limited,
  );
  const host = '31 20 0:26 /../.. /host/sys/fs/cgroup ro - cgroup2 cgroup2 rw\n';
  t.strictSame(
    await read(t, tree('0::/\n', CGROUP2 + host, files)),
    limited,
    "the host's mount is beside it",
  );
});

t.test('[3.limits] among several mounts, the one that shows the most ancestors', async (t) => {
  const narrow = '31 20 0:26 /a/b /narrow rw - cgroup2 cgroup2 rw\n';
  const files = { 'a/memory.max': '4096\n', 'a/memory.current': '1\n', 'a/b/memory.max': '8192\n' };
  for (const mounts of [CGROUP2 + narrow, narrow + CGROUP2]) {
    const both = { ...tree('0::/a/b\n', mounts, files), 'narrow/memory.max': '8192\n' };
    t.match(await read(t, both), { memoryBytes: 4096, memoryUsedBytes: 1 });
  }
});

const V1 =
  '31 20 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n' +
  '32 20 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n' +
  '33 20 0:32 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n';
const OWN_V1 = '5:cpuset:/\n4:memory:/box\n3:cpu,cpuacct:/box/inner\n1:name=systemd:/box\n';
const FILES_V1: Tree = {
  'memory/memory.limit_in_bytes': NONE_V1,
  'memory/memory.usage_in_bytes': '99999\n',
  'memory/box/memory.limit_in_bytes': '536870912\n',
  'memory/box/memory.usage_in_bytes': '104857600\n',
  'cpu,cpuacct/cpu.cfs_quota_us': '-1\n',
  'cpu,cpuacct/cpu.cfs_period_us': '100000\n',
  'cpu,cpuacct/box/cpu.cfs_quota_us': '50000\n',
  'cpu,cpuacct/box/cpu.cfs_period_us': '100000\n',
  'cpu,cpuacct/box/cpu.stat': 'nr_periods 400\nnr_throttled 100\nthrottled_time 512000000\n',
  'cpu,cpuacct/box/inner/cpu.cfs_quota_us': '-1\n',
  'cpu,cpuacct/box/inner/cpu.cfs_period_us': '100000\n',
};
const FOUND_V1: LimitCounters = {
  memoryBytes: 536_870_912,
  memoryUsedBytes: 104_857_600,
  cpus: 0.5,
  throttling: { group: '/sys/fs/cgroup/cpu,cpuacct/box', periods: 400, throttledPeriods: 100 },
  failure: null,
};

t.test('[3.limits] version 1, and both together: a controller is in one of them', async (t) => {
  t.strictSame(await read(t, tree(OWN_V1, V1, FILES_V1)), FOUND_V1);
  const unified = CGROUP2.replace('/sys/fs/cgroup ', '/sys/fs/cgroup/unified ');
  const hybrid = tree(`0::/elsewhere\n${OWN_V1}`, unified + V1, {
    ...FILES_V1,
    'unified/elsewhere/cgroup.procs': '',
  });
  t.strictSame(await read(t, hybrid), FOUND_V1);
  const memoryIsUnified = tree('3:cpu,cpuacct:/box\n0::/elsewhere\n', unified + V1, {
    ...FILES_V1,
    'unified/elsewhere/memory.max': '8192\n',
    'unified/elsewhere/memory.current': '12\n',
  });
  t.strictSame(await read(t, memoryIsUnified), { ...FOUND_V1, memoryBytes: 8192, memoryUsedBytes: 12 });
});

t.test('[3.limits] the processors of a cpuset, where they are fewer than a quota is worth', async (t) => {
  const v2 = 'cpuset.cpus.effective';
  const v1 = 'cpuset/box/cpuset.effective_cpus';
  const online = { 'sys/devices/system/cpu/online': '0-7\n' };
  const cpusOf = async (own: string, mounts: string, files: Tree, more: Tree = online) =>
    (await read(t, { ...tree(own, mounts, { ...files, 'cpu.stat': '' }), ...more })).cpus;
  const group = (files: Tree) => cpusOf('0::/a/b\n', CGROUP2, files);
  const quota = { 'cpu.max': '800000 100000\n' };
  t.equal(await cpusOf('0::/\n', CGROUP2, { ...quota, [v2]: '0\n' }, {}), 1, 'below a quota');
  t.equal(await cpusOf('0::/\n', CGROUP2, { 'cpu.max': 'max 100000\n', [v2]: '0\n' }, {}), 1, 'no quota');
  t.equal(await group({ 'a/b/cpu.max': '150000 100000\n', [`a/${v2}`]: '1-3\n' }), 1.5, 'above one');
  t.equal(await group({ [`a/${v2}`]: '2-3,6\n', [v2]: '0-7\n' }), 3, 'only the parent has a list');
  t.equal(await group({ [`a/b/${v2}`]: '0-3\n', [`a/${v2}`]: '2-5\n' }), 2, 'common to both');
  t.equal(await group({ [`a/b/${v2}`]: '2-7\n', [`a/${v2}`]: '0-1\n' }), 6, 'a partition');
  t.equal(await group({ [`a/b/${v2}`]: '\n', [`a/${v2}`]: '0-7\n' }), null, 'all processors');
  const own = OWN_V1.replace('cpuset:/', 'cpuset:/box');
  t.equal(await cpusOf(own, V1, { ...FILES_V1, [v1]: '4\n' }), 0.5, 'version 1');
  t.equal(await cpusOf('5:cpuset:/box\n', V1, { [v1]: '4-5\n', 'cpuset/cpuset.effective_cpus': '0-7\n' }), 2);
  t.equal(await cpusOf('5:cpuset:/box\n', V1, { 'cpuset/box/cpuset.cpus': '3\n' }), 1, 'before Linux 3.17');
});

t.test('[3.limits] no limit: neither version has one, or the kernel has no control groups', async (t) => {
  const files = { 'a/memory.max': 'max\n', 'a/memory.current': '5\n', 'a/cpu.max': 'max 100000\n' };
  t.strictSame(await read(t, tree('0::/a\n', CGROUP2, files)), NOTHING);
  t.strictSame(await read(t, tree('0::/a\n', CGROUP2)), NOTHING, 'its controllers are off');
  const off = { ...FILES_V1, 'memory/box/memory.limit_in_bytes': '9223372036854710272\n' };
  t.strictSame(
    await read(t, tree(OWN_V1, V1, { ...off, 'cpu,cpuacct/box/cpu.cfs_quota_us': '-1\n' })),
    NOTHING,
    'pages of 64 KiB',
  );
  t.strictSame(await read(t, { 'proc/uptime': '1 1\n' }), NOTHING);
});

t.test('[3.limits-unreadable] an unreadable file has its reason, and hides nothing else', async (t) => {
  const files = { 'memory.max': FOLDER, 'cpu.max': '20000 100000\n' };
  t.match(await read(t, tree('0::/\n', CGROUP2, files)), {
    memoryBytes: null,
    cpus: 0.2,
    throttling: null,
    failure: 'read /sys/fs/cgroup/memory.max: Is a directory',
  });
  const failureOf = async (own: string, mountinfo: string) => (await read(t, tree(own, mountinfo))).failure;
  t.equal(await failureOf('0::/a\n', ''), 'no mount shows the cgroup /a');
  t.equal(await failureOf('0::/../beside\n', CGROUP2), 'no mount shows the cgroup /../beside');
  t.equal(
    await failureOf('0::/dockers\n', CGROUP2.replace(' / /sys', ' /docker /sys')),
    'no mount shows the cgroup /dockers',
  );
});
