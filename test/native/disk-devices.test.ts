/** Which devices the counters of a filesystem are of: NVMe namespaces with several paths, filesystems on several devices. */
import t from 'tap';
import '../helpers/service/dead-buses.ts';
import { type DiskCounters, SECTION_BITS } from '#src/host/host.js';
import { FOLDER, makeMachine, readUntil, type Tree } from '../helpers/machine/tree.ts';

t.setTimeout(280_000);
type Tap = { teardown(done: () => void): unknown };

const lines = (...all: readonly string[]) => `${all.join('\n')}\n`;
/** A line of /proc/diskstats; `read` and `written` in sectors. */
const counted = (number: string, name: string, read: number, written: number, busyMs: number) =>
  `${number.replace(':', ' ')} ${name} 1 0 ${read} 0 1 0 ${written} 0 0 ${busyMs} 0 0 0 0 0`;

interface Shown {
  readonly devices: string | undefined;
  readonly io: readonly number[] | null;
}
const shownOf = ({ io, ioDevices }: DiskCounters): Shown => ({
  devices: ioDevices,
  io: io ? [io.readBytes / 512, io.writeBytes / 512, io.busyMs] : null,
});

/** Returns the figures of each mount; `mounts`: from mountinfo's device number on. */
async function show(
  test: Tap,
  mounts: Readonly<Record<string, string>>,
  tree: Tree,
): Promise<Readonly<Record<string, Shown>>> {
  const points = Object.keys(mounts);
  const machine = makeMachine(test, {
    'proc/self/mountinfo': lines(
      '20 1 8:2 / / rw - ext4 /dev/sda2 rw',
      ...Object.entries(mounts).map(([point, rest], at) => {
        const [number = '', type = '', source = ''] = rest.split(' ');
        return `${30 + at} 20 ${number} / ${point} rw - ${type} ${source} rw`;
      }),
    ),
    ...Object.fromEntries(points.map((point) => [point.slice(1), FOLDER])),
    ...tree,
  });
  const read = () => readUntil(machine.host, SECTION_BITS.disks, true, ({ awaitsAnswers }) => !awaitsAnswers);
  await read();
  const { disks } = await read();
  return Object.fromEntries((disks ?? []).map((disk) => [disk.mountPoint, shownOf(disk)]));
}

const HEAD = '259:3';
const onHead = { '/data': `${HEAD} ext4 /dev/nvme0n1` };
const showHead = async (test: Tap, ...diskstats: readonly string[]) =>
  (await show(test, onHead, { 'proc/diskstats': lines(...diskstats) }))['/data'];

t.test('[3.detail-disks] a head that has counted nothing: its paths', async (t) => {
  // A server with kernel 5.4 (netdata/netdata#9560).
  const server = [
    '   0       0 nvme1c1n1 15574215 6668274 1306035176 3068997 59673486 1951481 1281792136 2423228 0 22667636 452688 0 0 0 0',
    '   0       0 nvme0c0n1 18224147 7326821 1473911640 3682046 58903402 1670329 1204958632 2340053 0 20538184 551548 0 0 0 0',
    ' 259       2 nvme1n1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0',
    ' 259       3 nvme0n1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0',
    ' 259       4 nvme3n1 7081160 0 9310247 242918 73945562 0 1628185952 2921571 0 18317936 264904 0 0 0 0',
  ];
  t.strictSame(await showHead(t, ...server), {
    devices: 'nvme0c0n1',
    io: [1473911640, 1204958632, 20538184],
  });
  const two = [
    counted('0:0', 'nvme0c0n1', 100, 10, 5),
    counted('0:0', 'nvme0c1n1', 20, 2, 3),
    counted(HEAD, 'nvme0n1', 0, 0, 0),
  ];
  t.strictSame(await showHead(t, ...two), { devices: 'nvme0c0n1 nvme0c1n1', io: [120, 12, 8] });
  const others = [
    counted('0:0', 'nvme0c3n1', 7, 7, 7),
    counted('0:0', 'nvme0c3n11', 1000, 1000, 1000),
    counted('0:0', 'nvme10c3n1', 1000, 1000, 1000),
    counted('259:9', 'nvme0n11', 0, 0, 0),
    counted(HEAD, 'nvme0n1', 0, 0, 0),
  ];
  t.strictSame(
    await showHead(t, ...others),
    { devices: 'nvme0c3n1', io: [7, 7, 7] },
    'not those of another subsystem or namespace',
  );
});

t.test('[3.detail-disks] a head that counts: it alone', async (t) => {
  const both = [
    counted('0:0', 'nvme0c0n1', 100, 10, 5),
    counted('0:0', 'nvme0c1n1', 20, 2, 3),
    counted(HEAD, 'nvme0n1', 120, 12, 6),
  ];
  t.strictSame(await showHead(t, ...both), { devices: 'nvme0n1', io: [120, 12, 6] });
  const single = [counted(HEAD, 'nvme0n1', 120, 12, 6)];
  t.strictSame(await showHead(t, ...single), { devices: 'nvme0n1', io: [120, 12, 6] });
  const idle = [counted('0:0', 'nvme0c0n1', 0, 0, 0), counted(HEAD, 'nvme0n1', 0, 0, 0)];
  t.strictSame(await showHead(t, ...idle), { devices: 'nvme0n1', io: [0, 0, 0] }, 'nothing was read yet');
});

t.test('[3.detail-disks] partitions of a head', async (t) => {
  const mounts = { '/boot': '259:4 vfat /dev/nvme0n1p1', '/home': '259:5 ext4 /dev/nvme0n1p2' };
  const partitions = [counted('259:4', 'nvme0n1p1', 0, 0, 0), counted('259:5', 'nvme0n1p2', 0, 0, 0)];
  const paths = [counted('0:0', 'nvme0c0n1', 100, 10, 5)];
  const none = { devices: '', io: null };
  const old = [...paths, counted(HEAD, 'nvme0n1', 0, 0, 0), ...partitions];
  const { '/boot': boot, '/home': home } = await show(t, mounts, { 'proc/diskstats': lines(...old) });
  t.strictSame(
    [boot, home],
    [none, none],
    'paths do not say which one they were for: neither 0, nor all, nor twice',
  );
  const later = [
    ...paths,
    counted(HEAD, 'nvme0n1', 100, 10, 5),
    counted('259:4', 'nvme0n1p1', 0, 0, 0),
    counted('259:5', 'nvme0n1p2', 90, 10, 5),
  ];
  const counts = await show(t, mounts, { 'proc/diskstats': lines(...later) });
  t.strictSame(counts['/boot'], { devices: 'nvme0n1p1', io: [0, 0, 0] }, 'a real 0');
  t.strictSame(counts['/home'], { devices: 'nvme0n1p2', io: [90, 10, 5] });
});

const block = (name: string, number: string): Tree => ({ [`sys/class/block/${name}/dev`]: `${number}\n` });

t.test('[3.detail-disks] a btrfs on two heads', async (t) => {
  const { '/pool': pool } = await show(
    t,
    { '/pool': '0:40 btrfs /dev/nvme0n1' },
    {
      ...block('nvme0n1', HEAD),
      ...block('nvme1n1', '259:2'),
      'sys/fs/btrfs/aaaa/devices/nvme0n1': FOLDER,
      'sys/fs/btrfs/aaaa/devices/nvme1n1': FOLDER,
      'proc/diskstats': lines(
        counted('0:0', 'nvme0c0n1', 100, 10, 10),
        counted('0:0', 'nvme1c1n1', 50, 5, 30),
        counted(HEAD, 'nvme0n1', 0, 0, 0),
        counted('259:2', 'nvme1n1', 0, 0, 0),
      ),
    },
  );
  t.strictSame(pool, { devices: 'nvme0c0n1 nvme1c1n1', io: [150, 15, 20] });
});

const DRIVES: Tree = {
  ...block('sdg', '8:96'),
  ...block('sdh', '8:112'),
  ...block('sdi1', '8:129'),
  'proc/diskstats': lines(
    counted('8:96', 'sdg', 100, 10, 10),
    counted('8:112', 'sdh', 20, 2, 20),
    counted('8:129', 'sdi1', 3, 1, 60),
  ),
  'dev/disk/by-id/ata-Maker_Model-1': { link: '../../sdg' },
  'dev/disk/by-path/pci-0000:00:17.0-ata-2': { link: '../../sdh' },
  'dev/disk/by-uuid/0b7c-x': { link: '../../sdg' },
  'dev/disk/by-label/pool': { link: '../../sdh' },
  'dev/disk/by-partuuid/77-01': { link: '../../sdi1' },
};

t.test('[3.detail-disks] a source that names all devices, in whatever way', async (t) => {
  const shown = await show(
    t,
    {
      '/two': '0:70 bcachefs /dev/sdg:/dev/sdh',
      '/three': '0:71 bcachefs /dev/sdi1:/dev/sdg:/dev/sdh',
      '/links': '0:72 bcachefs /dev/disk/by-id/ata-Maker_Model-1:/dev/disk/by-path/pci-0000:00:17.0-ata-2',
      '/path': '0:73 bcachefs /dev/disk/by-path/pci-0000:00:17.0-ata-2',
      '/twice': '0:74 bcachefs /dev/sdg:/dev/disk/by-uuid/0b7c-x',
      '/gone': '0:75 bcachefs /dev/sdg:/dev/sdz',
      '/part': '0:76 newfs PARTUUID=77-01',
      '/label': '0:77 newfs LABEL=pool',
    },
    DRIVES,
  );
  t.strictSame(shown['/two'], { devices: 'sdg sdh', io: [120, 12, 15] });
  t.strictSame(shown['/three'], { devices: 'sdi1 sdg sdh', io: [123, 13, 30] });
  t.strictSame(shown['/links'], { devices: 'sdg sdh', io: [120, 12, 15] });
  t.strictSame(shown['/path'], { devices: 'sdh', io: [20, 2, 20] }, 'a colon in a name separates nothing');
  t.strictSame(shown['/twice'], { devices: 'sdg', io: [100, 10, 10] }, 'one device by two names');
  t.strictSame(shown['/gone'], { devices: '', io: null }, 'the others are not all of it');
  t.strictSame(shown['/part'], { devices: 'sdi1', io: [3, 1, 60] });
  t.strictSame(shown['/label'], { devices: 'sdh', io: [20, 2, 20] });
});

t.test('[3.detail-disks] a source that names one of the devices: /sys lists the others', async (t) => {
  const members = (kind: string, ...names: readonly string[]): Tree =>
    Object.fromEntries(
      names.map((name, at) => [
        `sys/fs/bcachefs/${kind}/dev-${at}/block`,
        { link: `../../../../block/${name}` },
      ]),
    );
  const shown = await show(
    t,
    {
      '/uuid': '0:70 bcachefs UUID=0b7c-x',
      '/alone': '0:71 bcachefs /dev/sdi1',
      '/by-id': '0:72 btrfs /dev/disk/by-path/pci-0000:00:17.0-ata-2',
    },
    {
      ...DRIVES,
      ...block('sdj', '8:144'),
      'proc/diskstats': lines(
        String(DRIVES['proc/diskstats']).trimEnd(),
        counted('8:144', 'sdj', 1000, 1000, 40),
      ),
      ...members('0b7c-x', 'sdg', 'sdi1'),
      ...members('aaaa', 'sdz'),
      'sys/fs/btrfs/bbbb/devices/sdh': FOLDER,
      'sys/fs/btrfs/bbbb/devices/sdj': FOLDER,
    },
  );
  t.strictSame(shown['/uuid'], { devices: 'sdg sdi1', io: [103, 11, 35] });
  t.strictSame(shown['/alone'], { devices: 'sdg sdi1', io: [103, 11, 35] });
  t.strictSame(shown['/by-id'], { devices: 'sdh sdj', io: [1020, 1002, 30] });
});
