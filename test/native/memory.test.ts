/** Memory counters: what ZFS caches is available, as the page cache is. */
import t, { type Test } from 'tap';
import { SECTION_BITS } from '#src/host/host.js';
import { makeMachine, type Tree } from '../helpers/machine/tree.ts';

const KIB = 1024;
const GIB = 1024 ** 3;
const ARCSTATS = 'proc/spl/kstat/zfs/arcstats';

const meminfo = (totalKib: number, availableKib: number) =>
  `MemTotal: ${totalKib} kB\nMemFree: 0 kB\nMemAvailable: ${availableKib} kB\n`;

/** The rows around those that are read, as OpenZFS writes them. */
const arcstats = (size: number | bigint, smallest: number | bigint) =>
  [
    '13 1 0x01 123 33456 4120733108 91273311480021',
    'name                            type data',
    ...Object.entries({ c: 5, c_min: smallest, c_max: 7, size, compressed_size: 9 }).map(
      ([name, value]) => `${name.padEnd(31)} 4    ${value}`,
    ),
    '',
  ].join('\n');

const availableOf = (t: Test, tree: Tree) =>
  makeMachine(t, tree).host.readCounters(SECTION_BITS.memory, false, 0).memory?.availableBytes;

t.test('[3.memory-zfs] the cache of ZFS above its least size is available', async (t) => {
  const before = { 'proc/meminfo': meminfo(8 * 2 ** 20, 2 * 2 ** 20) };
  const cases: readonly (readonly [string, string, number])[] = [
    ['shrinkable', arcstats(3 * GIB, GIB), 4 * GIB],
    ['at its least size', arcstats(GIB, GIB), 2 * GIB],
    ['below its least size', arcstats(1, GIB), 2 * GIB],
    ['larger than all that is used', arcstats(2n ** 64n - 1n, 0), 8 * GIB],
    ['a number beyond 64 bits', arcstats(2n ** 64n, 0), 2 * GIB],
    ['without a size', 'name type data\nc_min 4 0\n', 2 * GIB],
    ['empty', '', 2 * GIB],
  ];
  for (const [name, text, wanted] of cases)
    t.equal(await availableOf(t, { ...before, [ARCSTATS]: text }), wanted, name);
  t.equal(await availableOf(t, before), 2 * GIB, 'no ZFS');
});

t.test(
  '[3.memory-zfs] a container with its own meminfo does not count the cache of the machine',
  async (t) => {
    // As under lxcfs: meminfo comes from another filesystem than the statistics.
    const machine = makeMachine(t, {
      'proc/meminfo': { link: '/proc/meminfo' },
      [ARCSTATS]: arcstats(2n ** 60n, 0),
    });
    const { memory } = machine.host.readCounters(SECTION_BITS.memory, false, 0);
    t.ok(memory && memory.availableBytes < memory.totalBytes, JSON.stringify(memory));
  },
);

t.test('the statistics stay open and are read again', async (t) => {
  const machine = makeMachine(t, {
    'proc/meminfo': meminfo(1000, 100),
    [ARCSTATS]: arcstats(200 * KIB, 0),
  });
  const read = () => machine.host.readCounters(SECTION_BITS.memory, false, 0).memory?.availableBytes;
  t.equal(read(), 300 * KIB);
  machine.write({ [ARCSTATS]: arcstats(500 * KIB, 100 * KIB) });
  t.equal(read(), 500 * KIB);
});
