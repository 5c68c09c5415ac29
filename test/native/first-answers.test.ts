/** The first readings of the addon: they say whether a prober has yet to answer for the first time. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { ALL_SECTIONS, type Counters, type Host, SECTION_BITS } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { makeMachine } from '../helpers/machine/tree.ts';

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
