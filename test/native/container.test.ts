/** A container whose files in /proc are its own, as lxcfs writes them: its uptime and boot time, and impossible numbers. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { settleBootTime } from '#src/exporters/mqtt/discovery/machine.js';
import { type Host, SECTION_BITS } from '#src/host/host.js';
import { NO_BASELINE } from '#src/stats/baseline.js';
import { deriveMemoryDetail } from '#src/stats/memory.js';
import { deriveSample } from '#src/stats/sample.js';
import { deriveSystemDetail } from '#src/stats/system.js';
import { SYSTEM } from '../helpers/fakes/host.ts';
import { makeMachine, type Tree } from '../helpers/machine/tree.ts';

const read = (host: Host) => host.readCounters(SECTION_BITS.memory, true, 0, 0);
const metricsOf = async (host: Host) => (await host.readMetrics()).toString();
const valueIn = (text: string, name: string) => new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1];
const machineWith = (t: Test, uptime: string, more: Tree = {}) =>
  makeMachine(t, { 'proc/uptime': uptime, 'proc/stat': 'cpu 1 2 3 4\nbtime 1000000\n', ...more });

const FACTS = { version: '1', pid: 1, startedAt: 1, node: '', platform: 'linux' };
// Further sources, which do not matter here.
const EXTRAS = { capabilities: {} as never, cards: [] };

for (const [what, text, seconds] of [
  ['beszel#1948, lxcfs#232', '83.00 80.00\n', 83],
  ['just started', '0.42 0.00\n', 0.42],
  ['for weeks', '1234567.89 9876543.21\n', 1234567.89],
  ['without idle time', '5021.00\n', 5021],
] as const)
  t.test(`[3.container-uptime] the uptime of a container: ${what}`, async (t) => {
    const { host } = machineWith(t, text);
    const counters = read(host);
    t.equal(counters.uptimeNs, seconds * 1e9);
    const { sample } = deriveSample(NO_BASELINE, counters);
    t.equal(sample.uptime, Math.floor(seconds));
    t.equal(settleBootTime(sample), sample.timestamp - sample.uptime, 'for Home Assistant');
    const { boot_time } = deriveSystemDetail(SYSTEM, sample, FACTS, EXTRAS);
    t.equal(boot_time, sample.timestamp - sample.uptime);
    const bootedAt = Number(valueIn(await metricsOf(host), 'node_boot_time_seconds'));
    t.ok(Math.abs(bootedAt - (counters.unixMs / 1000 - seconds)) < 60, `booted at ${bootedAt}`);
  });

t.test('[3.container-uptime] the uptime of the kernel is that of the clock', async (t) => {
  const { host } = makeMachine(t, {
    'proc/uptime': { link: '/proc/uptime' },
    'proc/stat': 'cpu 1 2 3 4\nbtime 1000000\n',
  });
  t.equal(read(host).uptimeNs, undefined);
  t.equal(valueIn(await metricsOf(host), 'node_boot_time_seconds'), '1000000');
  const none = makeMachine(t, { 'proc/stat': 'cpu 1 2 3 4\n' });
  t.equal(read(none.host).uptimeNs, undefined);
});

t.test('[3.container-uptime] impossible uptimes, and no answer', async (t) => {
  for (const text of ['-5.00 1.00\n', '184467440737095516.00 0\n', '', 'x\n', 'inf 1\n', 'nan nan\n']) {
    const { host } = machineWith(t, text);
    t.equal(read(host).uptimeNs, undefined, JSON.stringify(text));
    t.equal(valueIn(await metricsOf(host), 'node_boot_time_seconds'), '1000000');
  }
  const machine = machineWith(t, '83.00 80.00\n');
  const before = read(machine.host);
  machine.write({ 'proc/uptime': '' });
  await sleep(2);
  const after = read(machine.host);
  t.equal(
    (after.uptimeNs ?? 0) - (before.uptimeNs ?? 0),
    after.sinceBootNs - before.sinceBootNs,
    'the last answer advances',
  );
});

t.test('[3.container-uptime] the boot time of metrics stays while it is nearly the same', async (t) => {
  const machine = machineWith(t, '5000.00 0\n');
  const bootTime = async () => Number(valueIn(await metricsOf(machine.host), 'node_boot_time_seconds'));
  const first = await bootTime();
  machine.write({ 'proc/uptime': `${(Date.now() / 1000 - first + 0.6).toFixed(2)} 0\n` });
  t.equal(await bootTime(), first);
  machine.write({ 'proc/uptime': '7.00 0\n' });
  t.ok((await bootTime()) > first + 4000, 'a container that was started again');
});

const meminfo = (values: Readonly<Record<string, string>>) =>
  Object.entries({
    MemTotal: '2097152',
    MemFree: '1024',
    MemAvailable: '4096',
    Buffers: '8',
    Cached: '512',
    SwapTotal: '1000',
    SwapFree: '600',
    ...values,
  })
    .map(([name, value]) => `${`${name}:`.padEnd(16)}${value} kB\n`)
    .join('');
const NEGATIVE = [
  '-4',
  '18446744073709551612',
  '18014398509481980',
  '18446744073709551615',
  '99999999999999999999',
];

t.test('[3.container-memory] a container without memory: nothing is known', async (t) => {
  for (const total of ['0', ...NEGATIVE]) {
    const { host } = machineWith(t, '1 1\n', { 'proc/meminfo': meminfo({ MemTotal: total }) });
    const { memory, failures } = read(host);
    t.equal(memory, null, `MemTotal ${total}`);
    t.match(failures?.['memory'], /meminfo/);
    for (const value of Object.values(deriveMemoryDetail(memory ?? null))) t.equal(value, null);
    const text = await metricsOf(host);
    t.equal(valueIn(text, 'node_memory_MemTotal_bytes'), undefined);
    t.equal(valueIn(text, 'node_memory_Cached_bytes'), String(512 * 1024), 'the others are there');
  }
});

t.test('[3.container-memory] a number that is negative is not known, and no series', async (t) => {
  for (const value of NEGATIVE)
    for (const [field, key] of [
      ['Cached', 'cached'],
      ['Buffers', 'buffers'],
      ['SwapTotal', 'swap'],
      ['SwapFree', 'swap'],
    ] as const) {
      const { host } = machineWith(t, '1 1\n', { 'proc/meminfo': meminfo({ [field]: value }) });
      const { memory = null } = read(host);
      const detail = deriveMemoryDetail(memory);
      t.equal(detail[key], null, `${field} ${value}`);
      t.equal(detail.total, 2 ** 31);
      t.equal(detail.free, 4096 * 1024);
      t.equal(valueIn(await metricsOf(host), `node_memory_${field}_bytes`), undefined);
    }
});

t.test('[3.container-memory] available memory if the kernel, or lxcfs, does not say', async (t) => {
  const memoryOf = (values: Readonly<Record<string, string>>) =>
    read(machineWith(t, '1 1\n', { 'proc/meminfo': meminfo(values) }).host).memory;
  for (const value of NEGATIVE) {
    t.equal(memoryOf({ MemAvailable: value })?.availableBytes, (1024 + 8 + 512) * 1024, 'estimated');
    t.equal(memoryOf({ MemFree: value })?.availableBytes, 4096 * 1024, 'it says so');
    t.equal(memoryOf({ MemFree: value, MemAvailable: value }), null, 'nobody knows');
  }
  t.equal(memoryOf({ MemAvailable: '9999999' })?.availableBytes, 2 ** 31, 'at most all');
});
