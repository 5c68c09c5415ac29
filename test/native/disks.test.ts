/** Disks of Linux: which mounts are shown, their values, and the cost of a reading; the live machine against df. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import '../helpers/service/dead-buses.ts';
import { type Counters, type DiskCounters, SECTION_BITS } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { FOLDER, makeMachine, readUntil, type Tree } from '../helpers/machine/tree.ts';

t.setTimeout(280_000);
const DISKS = SECTION_BITS.disks;
const MIB = 2 ** 20;

/**
 * Returns what a machine shows once all its filesystems have answered, and `isShown`. Its mount points are folders; `tree`
 * has those that are files.
 */
async function shownDisks(
  test: Tap,
  mounts: readonly string[],
  tree: Tree = {},
  isShown: (disks: readonly DiskCounters[]) => boolean = () => true,
): Promise<readonly DiskCounters[]> {
  const points = mounts.map((line) => line.split(' ')[4]?.slice(1) ?? '').filter((point) => point !== '');
  const machine = makeMachine(test, {
    'proc/self/mountinfo': lines(...mounts),
    ...Object.fromEntries(points.map((point) => [point, FOLDER])),
    ...tree,
  });
  let readings = 0;
  // Three rounds: first answers, what they leave out, what /sys says.
  const isDone = (counters: Counters) =>
    isSettled(counters) && isShown(counters.disks ?? []) && ++readings > 3;
  return (await readUntil(machine.host, DISKS, true, isDone)).disks ?? [];
}
type Tap = { teardown(done: () => void): unknown };

const isSettled = ({ disks }: Counters) =>
  disks != null && disks.length > 0 && disks.every((disk) => disk.isStale === false);
const pointsOf = (disks: readonly DiskCounters[]) => disks.map((disk) => disk.mountPoint);
const lines = (...all: readonly string[]) => `${all.join('\n')}\n`;
const folders = (...points: readonly string[]): Tree =>
  Object.fromEntries(points.map((point) => [point.slice(1), FOLDER]));

const ROOT = '30 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw';

t.test('[3.disks-which] real filesystems are shown, in the order of mountinfo', async (t) => {
  const disks = await shownDisks(t, [
    '21 30 0:20 / /proc rw shared:5 - proc proc rw',
    '22 30 0:21 / /sys rw - sysfs sysfs rw',
    '23 30 0:6 / /dev rw - devtmpfs udev rw,size=1k',
    ROOT,
    '24 30 0:24 / /run rw - tmpfs tmpfs rw',
    '25 30 0:25 / /run/fake rw - tmpfs /dev/fake rw',
    '31 30 8:1 / /boot/efi rw,relatime - vfat /dev/sda1 rw',
    '32 30 0:50 / /tank rw - zfs tank/data rw,xattr',
    '33 30 0:60 / /net/home rw - nfs4 server:/home rw,addr=192.0.2.1',
    '34 30 0:61 / /net/share rw - cifs //server/share\\040x rw',
    '35 30 0:62 / /net/ceph rw - ceph 192.0.2.2:6789:/ rw',
    '36 30 0:63 / /shared rw - virtiofs host0 rw',
    '37 30 0:64 / /mnt/ssh rw - fuse.sshfs me@host:/home rw,user_id=0',
    '38 30 8:81 / /mnt/ntfs rw - fuseblk /dev/sdf1 rw,user_id=0',
    '39 30 0:65 / /run/doc rw - fuse.portal portal rw',
    '40 30 0:66 / /run/gvfs rw - fuse.gvfsd-fuse gvfsd-fuse rw',
    '41 30 0:67 / /mnt/none rw - fuse none rw',
    '42 30 0:68 / /sys/fs/fuse/connections rw - fusectl fusectl rw',
    '43 30 7:0 / /snap/core/1 ro - squashfs /dev/loop0 ro',
    '44 30 7:2 / /mnt/iso ro - iso9660 /dev/loop2 ro',
    '45 30 7:1 / /mnt/image rw - ext4 /dev/loop1 rw',
    '46 30 11:0 / /media/cdrom ro - iso9660 /dev/sr0 ro',
    '47 30 0:69 / /var/lib/docker/overlay2/x/merged rw - overlay overlay rw,lowerdir=/x',
    '48 30 0:70 / /many rw - bcachefs /dev/sdg:/dev/sdh rw',
    '49 30 0:71 / /overlay rw - ubifs ubi0:rootfs_data rw,assert=read-only,ubi=0,vol=2',
  ]);
  t.same(pointsOf(disks), [
    '/',
    '/boot/efi',
    '/tank',
    '/net/home',
    '/net/share',
    '/net/ceph',
    '/shared',
    '/mnt/ssh',
    '/mnt/ntfs',
    '/mnt/image',
    '/media/cdrom',
    '/many',
    '/overlay',
  ]);
  t.equal(disks.find((disk) => disk.mountPoint === '/net/share')?.device, '//server/share x');
  t.equal(disks.find((disk) => disk.mountPoint === '/tank')?.type, 'zfs');
  t.equal(disks.find((disk) => disk.mountPoint === '/media/cdrom')?.isReadOnly, true);
  t.ok(
    disks.every((disk) => disk.usage !== null && disk.usage.totalBytes > 0),
    'each was asked how full it is',
  );
});

t.test(
  '[3.disks-which] a mount point that once could not be examined is the one shown when it can be',
  async (t) => {
    const machine = makeMachine(t, {
      'proc/self/mountinfo': lines(
        ROOT,
        '31 30 8:1 / /data rw,relatime - ext4 /dev/sda1 rw',
        '32 30 8:1 / /srv/the/data rw,relatime - ext4 /dev/sda1 rw',
      ),
      ...folders('/srv/the/data'),
    });
    const shown = async (point: string) => {
      const { disks } = await readUntil(machine.host, DISKS, true, (counters) =>
        pointsOf(counters.disks ?? []).includes(point),
      );
      return pointsOf(disks ?? []);
    };
    t.strictSame(await shown('/srv/the/data'), ['/', '/srv/the/data']);
    machine.write(folders('/data'));
    t.strictSame(await shown('/data'), ['/', '/data']);
  },
);

t.test('[3.disks-which] a filesystem is shown once, at its shortest mount point', async (t) => {
  const disks = await shownDisks(t, [
    ROOT,
    '31 30 8:17 / /data/original/long rw - xfs /dev/sdb1 rw',
    '32 30 8:17 /part /data/b rw - xfs /dev/sdb1 rw',
    '33 30 8:2 /var/cache /cache rw - ext4 /dev/sda2 rw',
    '34 30 0:40 /@ /btrfs rw - btrfs /dev/sdd1 rw,subvolid=256,subvol=/@',
    '35 34 0:40 /@home /btrfs/home rw - btrfs /dev/sdd1 rw,subvolid=257,subvol=/@home',
    '36 30 0:40 /@home/me/x /var/long/bind rw - btrfs /dev/sdd1 rw,subvolid=257,subvol=/@home',
    '37 30 0:60 /a /net/a rw - nfs4 server:/a rw',
    '38 30 0:60 /b /net/bb rw - nfs4 server:/b rw',
  ]);
  t.same(pointsOf(disks), ['/', '/data/b', '/btrfs', '/btrfs/home', '/net/a', '/net/bb']);
});

t.test('[3.disks-which] a mount covered by another one is not shown', async (t) => {
  const disks = await shownDisks(t, [
    '1 1 0:2 / / rw - rootfs rootfs rw',
    '30 1 8:2 / / rw - ext4 /dev/sda2 rw',
    '50 30 8:65 / /mnt/over rw - xfs /dev/sde1 rw',
    '52 50 8:67 / /mnt/over/below rw - ext4 /dev/sde3 rw',
    '51 50 8:66 / /mnt/over rw - ext4 /dev/sde2 rw',
    '60 30 8:68 / /hidden/below rw - ext4 /dev/sde4 rw',
    '61 30 0:80 / /hidden rw - tmpfs tmpfs rw',
    '62 61 8:69 / /hidden/above rw - ext4 /dev/sde5 rw',
    '70 30 0:81 / /auto rw - autofs systemd-1 rw,fd=5',
    '71 70 0:82 / /auto rw - nfs4 server:/auto rw',
    '72 30 0:83 / /never rw - autofs systemd-1 rw,fd=6',
  ]);
  t.same(
    disks.map((disk) => [disk.mountPoint, disk.device]),
    [
      ['/', '/dev/sda2'],
      ['/mnt/over', '/dev/sde2'],
      ['/hidden/above', '/dev/sde5'],
      ['/auto', 'server:/auto'],
    ],
  );
});

t.test('[3.disks-images] images that are mounted as filesystems are not disks', async (t) => {
  const images = [
    '0:70 / /tmp/.mount_Cursorq1W2e3 ro,nosuid,nodev,relatime - fuse.Cursor-1.2.AppImage Cursor-1.2.AppImage ro,user_id=1000',
    '0:71 / /var/tmp/x ro,nosuid - fuse.My\\040App.AppImage /opt/My\\040App.AppImage ro,user_id=1000',
    '0:72 / /home/u/.cache/.mount_editorAbCdEf ro,nosuid - fuse.editor editor ro,user_id=1000',
    '0:73 / /snap/core22/1 ro,nodev - fuse.squashfuse /var/lib/snapd/snaps/core22_1.snap ro,user_id=0',
    '0:74 / /snap/core22/2 ro,nodev - fuse.snapfuse /dev/loop9 ro,user_id=0',
    '0:75 / /mnt/low ro - fuse.squashfuse_ll squashfuse_ll ro,user_id=1000',
    '7:3 / /snap/core24/3 ro,nodev - squashfs /dev/loop3 ro,errors=continue',
    '253:7 / /run/extension ro - squashfs /dev/mapper/extension-verity ro',
    '253:8 / /usr/share/image ro - erofs /dev/dm-8 ro',
    '7:4 / /mnt/iso ro - iso9660 /dev/loop4 ro',
  ];
  const disks = [
    '0:80 / /home/u/.mount_writable rw - fuse.editor editor rw,user_id=1000',
    '0:81 / /srv/apps.AppImage rw - fuse.sshfs box:/apps rw,user_id=1000',
    '0:82 / /mnt/.mount_ssh ro - fuse.sshfs box:/ ro,user_id=1000',
    '11:0 / /media/cdrom ro - iso9660 /dev/sr0 ro',
    '7:1 / /mnt/image ro - ext4 /dev/loop1 ro',
  ];
  const points = [...images, ...disks].map((line) => line.split(' ')[2] ?? '');
  const shown = await shownDisks(t, [
    ROOT,
    ...[...images, ...disks].map((line, i) => `${40 + i} 30 ${line}`),
  ]);
  t.same(pointsOf(shown), ['/', ...points.slice(images.length)]);
  const live = '30 1 7:0 / / ro,relatime - squashfs /dev/loop0 ro';
  t.same(pointsOf(await shownDisks(t, [live])), ['/'], 'the root is always shown');
});

t.test('[3.disks-which] the root of a container is shown, files mounted into it are not', async (t) => {
  const disks = await shownDisks(
    t,
    [
      '30 1 0:99 / / rw - overlay overlay rw,lowerdir=/a:/b',
      '31 30 8:97 /containers/hosts /etc/hosts rw - ext4 /dev/sdg1 rw',
      '32 30 8:97 /containers/resolv.conf /etc/resolv.conf rw - ext4 /dev/sdg1 rw',
      '33 30 8:97 /volumes/x /a-volume-with-a-long-name rw - ext4 /dev/sdg1 rw',
      '34 30 8:98 /containers/hostname /etc/hostname rw - ext4 /dev/sdg2 rw',
    ],
    { 'etc/hosts': '', 'etc/resolv.conf': '', 'etc/hostname': '' },
  );
  t.same(pointsOf(disks), ['/', '/a-volume-with-a-long-name']);
});

t.test('names are unescaped and made valid UTF-8; the raw bytes are used for the system call', async (t) => {
  const mountinfo = Buffer.concat([
    Buffer.from(
      `${ROOT}\n31 30 8:17 / /mnt/a\\040b\\011c\\012d\\134e rw - ext4 /dev/sdb1 rw\n32 30 8:18 / /mnt/caf`,
    ),
    Buffer.from([0xe9]),
    Buffer.from(' rw - ext4 /dev/sdb2 rw\n33 30 8:19 / /mnt/grün\\04 rw - ext4 /dev/sdb3 rw\n'),
  ]);
  const machine = makeMachine(t, { 'proc/self/mountinfo': mountinfo });
  for (const name of ['a b\tc\nd\\e', 'grün\\04'])
    mkdirSync(path.join(machine.root, 'mnt', name), { recursive: true });
  mkdirSync(Buffer.concat([Buffer.from(`${machine.root}/mnt/caf`), Buffer.from([0xe9])]));
  const { disks } = await readUntil(machine.host, DISKS, true, isSettled);
  t.same(pointsOf(disks ?? []), ['/', '/mnt/a b\tc\nd\\e', '/mnt/caf\ufffd', '/mnt/grün\\04']);
  t.ok(
    disks?.every((disk) => disk.usage !== null),
    'all were found',
  );
});

t.test('a table with nonsense in it', async (t) => {
  const disks = await shownDisks(t, [
    '',
    'x',
    '30 1',
    ROOT,
    '31 30 8 / /a rw - ext4 /dev/sdb1 rw',
    '32 30 8:1 / /b rw ext4 /dev/sdb1 rw',
    '33 34 8:3 / /c rw - ext4 /dev/sdb3 rw',
    '34 33 8:4 / /c/d rw - ext4 /dev/sdb4 rw',
    '35 30 8:5 / relative rw - ext4 /dev/sdb5 rw',
    '36 30 0:9 / /empty rw -  rw',
    '99999999999999999999 30 8:6 / /e rw - ext4 /dev/sdb6 rw',
  ]);
  t.same(pointsOf(disks), ['/'], 'leaves the lines that make sense');
  const none = makeMachine(t, {});
  const counters = await readUntil(none.host, DISKS, false, ({ disks }) => disks === null);
  t.equal(counters.disks, null, 'no table: the section is null');
  t.match(counters.failures?.['disks'], /mountinfo/, 'and the reason says what');
});

t.test('reports of /sys and /dev about the devices', async (t) => {
  const device = (name: string, removable: string): Tree => ({
    [`sys/devices/pci/block/${name}/removable`]: `${removable}\n`,
    [`sys/devices/pci/block/${name}/${name}1/partition`]: '1\n',
  });
  const disks = await shownDisks(
    t,
    [
      '30 1 8:1 / / rw - ext4 /dev/root rw',
      '31 30 8:17 / /stick rw - vfat /dev/sdb1 ro',
      '32 30 253:0 / /vault ro - ext4 /dev/dm-0 rw',
      '33 30 253:1 / /mapped rw - ext4 /dev/mapper/group-data rw',
      '34 30 0:40 / /btrfs rw - btrfs /dev/sda1 rw,subvolid=5',
      '35 30 0:50 / /tank rw - zfs tank rw',
    ],
    {
      ...device('sda', '0'),
      ...device('sdb', '1'),
      'sys/devices/virtual/block/dm-0/removable': '0\n',
      'sys/devices/virtual/block/dm-0/dm/name': 'vault\n',
      'sys/dev/block/8:1': { link: '../../devices/pci/block/sda/sda1' },
      'sys/dev/block/8:17': { link: '../../devices/pci/block/sdb/sdb1' },
      'sys/dev/block/253:0': { link: '../../devices/virtual/block/dm-0' },
      'sys/class/block/sda1/dev': '8:1\n',
      'dev/disk/by-label/My\\x20stick': { link: '../../sdb1' },
      'dev/disk/by-label/vault': { link: '../../dm-0' },
      'proc/diskstats': lines(
        '   8       0 sda 9 9 9 9 9 9 9 9 9 9 9',
        '   8       1 sda1 100 0 2000 30 50 0 600 70 0 80 100 0 0 0 0 0 0',
        '   8      17 sdb1 1 2 3 4 5 6 7 8 9 10 11',
        ' 253       1 dm-1 1 2 3',
      ),
    },
    (all) => all.some(({ label }) => label === 'vault') && all.filter(({ io }) => io != null).length === 3,
  );
  const rows = disks.map(({ mountPoint, device, label, isReadOnly, isRemovable, io }) => [
    mountPoint,
    device,
    label,
    isReadOnly,
    isRemovable,
    io,
  ]);
  const io = { readBytes: 2000 * 512, writeBytes: 600 * 512, busyMs: 80 };
  t.same(rows, [
    ['/', '/dev/sda1', null, false, false, io],
    ['/stick', '/dev/sdb1', 'My stick', true, true, { readBytes: 3 * 512, writeBytes: 7 * 512, busyMs: 10 }],
    ['/vault', '/dev/mapper/vault', 'vault', true, false, null],
    ['/mapped', '/dev/mapper/group-data', null, false, null, null],
    ['/btrfs', '/dev/sda1', null, false, false, io],
    ['/tank', 'tank', null, false, null, null],
  ]);
});

t.test('a btrfs on two devices: the sum of their bytes, and their average busy time', async (t) => {
  const mounts = [ROOT, '34 30 0:40 / /pool rw - btrfs /dev/sdb1 rw,subvolid=5'];
  const tree = {
    'proc/diskstats': lines(
      '8 17 sdb1 1 0 100 0 1 0 10 0 0 40 0',
      '8 33 sdc1 1 0 200 0 1 0 20 0 0 60 0',
      '8 49 sdd1 1 0 400 0 1 0 40 0 0 90 0',
    ),
    'sys/class/block/sdb1/dev': '8:17\n',
    'sys/class/block/sdc1/dev': '8:33\n',
    'sys/class/block/sdd1/dev': '8:49\n',
    'sys/fs/btrfs/features': FOLDER,
    'sys/fs/btrfs/aaaa/devices/sdd1': FOLDER,
    'sys/fs/btrfs/bbbb/devices/sdb1': FOLDER,
    'sys/fs/btrfs/bbbb/devices/sdc1': FOLDER,
  };
  const isCounted = ([, pool]: readonly DiskCounters[]) => pool?.io != null;
  const disks = await shownDisks(t, mounts, tree, isCounted);
  const pool = disks.find((disk) => disk.mountPoint === '/pool');
  t.strictSame(pool?.io, { readBytes: 300 * 512, writeBytes: 30 * 512, busyMs: 50 });
  t.equal(pool?.ioDevices, 'sdb1 sdc1');
});

t.test('a btrfs has no counters before it is known on how many devices it is', async (t) => {
  const btrfs = (id: number, point: string, source: string) =>
    `${id} 30 0:${id} / ${point} rw - btrfs ${source} rw,subvolid=5`;
  const device = (name: string, minor: number, uuid: string): Tree => ({
    [`sys/class/block/${name}/dev`]: `8:${minor}\n`,
    [`sys/fs/btrfs/${uuid}/devices/${name}`]: FOLDER,
  });
  const machine = makeMachine(t, {
    'proc/self/mountinfo': lines(ROOT, btrfs(40, '/raid1', '/dev/sdb')),
    ...folders('/raid1', '/raid0', '/three', '/single'),
    'proc/diskstats': lines(
      '8 2 sda2 1 0 1 0 1 0 1 0 0 1 0',
      '8 16 sdb 1 0 100 0 1 0 10 0 0 40 0',
      '8 32 sdc 1 0 900000 0 1 0 900000 0 0 60 0',
      '8 48 sdd 1 0 7 0 1 0 7 0 0 60 0',
      '8 64 sde 1 0 800000 0 1 0 900000 0 0 60 0',
    ),
    ...device('sdb', 16, 'aaaa'),
    ...device('sdc', 32, 'aaaa'),
    ...device('sdd', 48, 'bbbb'),
    ...device('sde', 64, 'bbbb'),
  });
  const seen = new Map<string, Set<string>>();
  const read = (counters: Counters) => {
    for (const { mountPoint, io, ioDevices } of counters.disks ?? []) {
      const known = seen.get(mountPoint) ?? new Set();
      if (io !== null) known.add(`${ioDevices} ${(io?.readBytes ?? 0) / 512}`);
      seen.set(mountPoint, known);
    }
  };
  const readAll = async (points: number) => {
    let answered = 0;
    await readUntil(machine.host, DISKS, true, (counters) => {
      read(counters);
      const { disks } = counters;
      return disks?.length === points && disks.every(({ io }) => io !== null) && ++answered > 3;
    });
  };
  await readAll(2);
  t.strictSame([...(seen.get('/raid1') ?? [])], ['sdb sdc 900100'], 'from the first one on that has any');
  t.strictSame([...(seen.get('/') ?? [])], ['sda2 1'], 'what has a number of its own is known at once');
  machine.write({
    'proc/self/mountinfo': lines(
      ROOT,
      btrfs(40, '/raid1', '/dev/sdb'),
      btrfs(41, '/raid0', '/dev/sde'),
      btrfs(42, '/single', '/dev/sda2'),
    ),
  });
  await readAll(4);
  t.strictSame([...(seen.get('/raid0') ?? [])], ['sdd sde 800007'], 'mounted later');
  t.strictSame([...(seen.get('/single') ?? [])], ['sda2 1'], 'on one device');
  t.strictSame([...(seen.get('/raid1') ?? [])], ['sdb sdc 900100'], 'nothing is forgotten meanwhile');
});

t.test('changes of the table are noticed', async (t) => {
  const machine = makeMachine(t, { 'proc/self/mountinfo': lines(ROOT), ...folders('/mnt/new') });
  t.same(machine.host.readCounters(DISKS, true, 0).disks, [], 'the first reading waits for nothing');
  await readUntil(machine.host, DISKS, true, isSettled);
  t.equal(
    machine.host.readCounters(DISKS, false, 0).disks?.[0]?.isStale,
    undefined,
    'no detail where none was requested',
  );
  machine.write({ 'proc/self/mountinfo': lines(ROOT, '31 30 8:17 / /mnt/new rw - ext4 /dev/sdb1 rw') });
  const isLonger = ({ disks }: Counters) => disks?.length === 2;
  const more = (await readUntil(machine.host, DISKS, true, isLonger)).disks;
  t.same(pointsOf(more ?? []), ['/', '/mnt/new'], 'a new mount is there');
  t.ok(more?.[0]?.usage, 'and the last answer of one that stayed is kept');
  await readUntil(machine.host, DISKS, true, isSettled);
  machine.write({ 'proc/self/mountinfo': lines(ROOT.replace('rw,relatime', 'ro,relatime')) });
  const after = (await readUntil(machine.host, DISKS, true, ({ disks }) => disks?.length === 1)).disks;
  t.same(pointsOf(after ?? []), ['/']);
  t.equal(after?.[0]?.isReadOnly, true, 'a remount is seen');
  t.ok(after?.[0]?.usage, 'and the last answer of a mount that stayed is kept');
});

/** Size, used and available bytes from df, by mount point. */
function df(): ReadonlyMap<string, readonly number[]> {
  const output = execFileSync('df', ['-B1', '--output=size,used,avail,target'], { encoding: 'utf8' });
  const rows = output
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(\d+) (.*)$/.exec(line));
  return new Map(rows.map((row) => [row?.[4] ?? '', (row ?? []).slice(1, 4).map(Number)]));
}

/** Bytes that other tests may write and delete on the same disk between two answers of df. */
const WRITTEN_MEANWHILE = 64 * MIB;

t.test('the live machine, against df', async (t) => {
  const before = df();
  const { disks } = await readUntil(openNativeHost(), DISKS, true, isSettled);
  const after = df();
  // In a container / may be no mount of a device.
  const hasRoot = / \/ .* - \S+ \/dev\//.test(readFileSync('/proc/self/mountinfo', 'latin1'));
  if (hasRoot)
    t.ok(
      disks?.some((disk) => disk.mountPoint === '/'),
      '/ is there',
    );
  t.ok(disks !== undefined && disks !== null);
  for (const { mountPoint, usage } of disks ?? []) {
    const { totalBytes = 0, freeBytes = 0, availableBytes = 0 } = usage ?? {};
    const [size, ...changing] = before.get(mountPoint) ?? [];
    t.equal(totalBytes, size, `${mountPoint}: the size is df's`);
    // Other tests write to them at the same time: ours lies between the two answers of df, or close to them.
    for (const [i, ours] of [totalBytes - freeBytes, availableBytes].entries()) {
      const theirs = [changing[i] ?? NaN, after.get(mountPoint)?.[i + 1] ?? NaN];
      t.ok(
        ours >= Math.min(...theirs) - WRITTEN_MEANWHILE && ours <= Math.max(...theirs) + WRITTEN_MEANWHILE,
        `${mountPoint}: ${ours}, df ${theirs.join(' and ')}`,
      );
    }
  }
});
