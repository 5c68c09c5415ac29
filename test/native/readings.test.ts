/** A reading of the addon as a whole: its keys, the first answers of its probers, its clocks. */
import '../helpers/service/dead-buses.ts';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { ALL_SECTIONS, type Counters, type Host, SECTION_BITS, SECTIONS } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { DETAIL_KEYS } from '#src/stats/details.js';
import { DETAIL_BITS } from '#src/stats/needs.js';
import { makeMachine } from '../helpers/machine/tree.ts';

/** The keys of a reading beside its sections and details. */
const BESIDE = [
  'takenAtNs',
  'sinceBootNs',
  'unixMs',
  'uptimeNs',
  'clockErrorSeconds',
  'networkTakenAtNs',
  'awaitsAnswers',
  'failures',
];

/** The keys that a reading has a value for. */
const keysOf = (counters: Counters) =>
  Object.entries(counters)
    .filter(([key, value]) => value !== undefined && !BESIDE.includes(key))
    .map(([key]) => key);

t.test('each bit selects its section, and detail adds the details', async (t) => {
  const { host } = makeMachine(t, {});
  for (const section of SECTIONS)
    t.strictSame(keysOf(host.readCounters(SECTION_BITS[section], false, 0)), [section]);
  t.strictSame(keysOf(host.readCounters(ALL_SECTIONS, false, 0)), SECTIONS);
  // Processes have a reader of their own.
  const read = DETAIL_KEYS.filter((key) => key !== 'processes');
  t.strictSame(keysOf(host.readCounters(0, true, 0)), read);
  for (const key of read) t.strictSame(keysOf(host.readCounters(0, true, 0, DETAIL_BITS[key])), [key]);
  t.strictSame(keysOf(host.readCounters(SECTION_BITS.gpu, true, 0, 0)), ['gpu']);
});

t.test('a section that fails has the reason under its own key', async (t) => {
  const { host } = makeMachine(t, {});
  const { cpu, memory, sensors, failures } = host.readCounters(ALL_SECTIONS, true, 0);
  t.equal(cpu, null);
  t.equal(memory, null);
  t.strictSame(sensors, [], 'nothing there is no failure');
  for (const key of ['cpu', 'memory', 'network'])
    t.match(failures?.[key], /No such file/, `${key}: ${failures?.[key]}`);
});

/** The first reading after all probers have answered, and how many there were before it. */
async function readAnswered(host: Host, sections: number): Promise<readonly [Counters, number]> {
  const read = () => host.readCounters(sections, true, 0);
  let before = 0;
  for (; read().awaitsAnswers === true; before++) await sleep(5);
  return [read(), before];
}

t.test('[3.first-load] a reading says that answers are missing until all are there', async (t) => {
  const mountinfo = [
    '30 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw',
    '31 30 8:1 / /boot/efi rw,relatime - vfat /dev/sda1 rw',
    '32 30 0:60 / /net/home rw - nfs4 server:/home rw,addr=192.0.2.1',
  ];
  const tree = {
    'proc/self/mountinfo': `${mountinfo.join('\n')}\n`,
    'boot/efi/x': '',
    'net/home/x': '',
    'sys/dev/block/8:2/removable': '0\n',
    'sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq': '2400000\n',
    'sys/devices/system/cpu/cpufreq/policy0/affected_cpus': '0\n',
  };
  const { host } = makeMachine(t, tree);
  const [counters, before] = await readAnswered(host, SECTION_BITS.disks);
  t.ok(before > 0, 'the first reading has asked the first question');
  t.strictSame(
    counters.disks?.map(({ mountPoint, usage, isStale }) => [mountPoint, usage !== null, isStale]),
    [
      ['/', true, false],
      ['/boot/efi', true, false],
      ['/net/home', true, false],
    ],
  );
  t.equal(counters.disks?.[0]?.isRemovable, false, 'what /sys says is read by a prober of its own');
});

t.test('[3.first-load] on this machine the root is there once no answer is missing', async (t) => {
  const [{ disks }] = await readAnswered(openNativeHost(), ALL_SECTIONS);
  t.ok(disks?.some(({ mountPoint, usage }) => mountPoint === '/' && usage !== null));
});

t.test('[3.first-load] a reading that needs no prober is whole immediately', (t) => {
  const host = openNativeHost();
  t.equal(host.readCounters(SECTION_BITS.memory, false, 0).awaitsAnswers, undefined);
  t.end();
});

const uptimeMs = () => Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1000;

/** /proc/uptime has two decimals. */
const ROUNDED_MS = 10;

t.test('the time since boot counts suspended time, as the uptime does', (t) => {
  const host = openNativeHost();
  const before = uptimeMs();
  const [first, reading, second] = [host.sinceBootMs(), host.readCounters(0, false, 0), host.sinceBootMs()];
  t.ok(before - ROUNDED_MS <= first && second <= uptimeMs() + ROUNDED_MS, `${before} ${first} ${second}`);
  const ms = reading.sinceBootNs / 1e6;
  t.ok(first <= ms && ms <= second, 'the same clock as that of readings');
  t.end();
});

t.test('[12.clock-error] the error of the clock is that of the metrics of the same kernel', async (t) => {
  const host = openNativeHost();
  const { clockErrorSeconds } = host.readCounters(0, false, 0);
  const text = (await host.readMetrics()).toString();
  const metric = (name: string) => Number(new RegExp(`^node_timex_${name} (.*)$`, 'm').exec(text)?.[1]);
  if (metric('sync_status') === 0) t.ok(Number(clockErrorSeconds) >= 16, 'nothing synchronizes it');
  // 500 µs per second pass between two readings.
  else t.ok(Math.abs(Number(clockErrorSeconds) - metric('maxerror_seconds')) < 0.1);
});
