/** The disks section: usage as df reports it, and rates. */
import t from 'tap';
import type { DiskIo } from '#src/host/host.js';
import { deriveDiskDetail, deriveDiskStats } from '#src/stats/disks.js';
import { disk } from './literals.ts';

const io = (readBytes: number, writeBytes: number, busyMs: number): DiskIo => ({
  readBytes,
  writeBytes,
  busyMs,
});

t.test(
  '[3.disks] used excludes the reserve of root, percent is of the space that users can have',
  async (t) => {
    t.strictSame(deriveDiskStats([disk('/')]), [{ fs: '/', used: 500, available: 450, used_percent: 52.6 }]);
    const of = (totalBytes: number, freeBytes: number, availableBytes: number) =>
      deriveDiskStats([disk('/', { usage: { totalBytes, freeBytes, availableBytes } })])[0];
    t.match(of(10, 0, 0), { used: 10, available: 0, used_percent: 100 });
    t.match(of(10, 3, 0), { used: 7, available: 0, used_percent: 100 }, 'only root has room');
    t.match(of(0, 0, 0), { used: 0, available: 0, used_percent: 0 });
    t.match(of(5, 9, 9), { used: 0, available: 9, used_percent: 0 }, 'a server that says nonsense');
  },
);

t.test(
  '[3.no-answer] a mount that never answered is left out; in detail its values are null and it is stale',
  async (t) => {
    const silent = disk('/mnt/gone', { usage: null, isStale: true });
    t.strictSame(deriveDiskStats([silent]), []);
    t.strictSame(deriveDiskStats(null), []);
    const [detail] = deriveDiskDetail(undefined, [silent], 2);
    t.match(detail, {
      fs: '/mnt/gone',
      used: null,
      available: null,
      used_percent: null,
      size: null,
      stale: true,
    });
    t.match(deriveDiskDetail(undefined, [disk('/', { isStale: true })], 2)[0], { used: 500, stale: true });
    t.match(deriveDiskDetail(undefined, [disk('/', { isStale: false })], 2)[0], { used: 500, stale: false });
    const empty = disk('/', { usage: { totalBytes: 0, freeBytes: 0, availableBytes: 0 } });
    t.equal(deriveDiskDetail(undefined, [empty], 2)[0]?.used_percent, null, 'zero of zero has no percentage');
  },
);

t.test('[3.detail-disks] rates per second, and none where they would be wrong', async (t) => {
  const before = disk('/', { device: '/dev/sda1', io: io(1000, 5000, 100) });
  const rates = (after: ReturnType<typeof disk>, seconds = 2) => {
    const [found] = deriveDiskDetail([before], [after], seconds);
    return [found?.read_rate, found?.write_rate, found?.busy_percent];
  };
  const on = (next: DiskIo | null, device = '/dev/sda1') => disk('/', { device, io: next });
  t.strictSame(rates(on(io(2000, 5001, 600))), [500, 1, 25]);
  t.strictSame(rates(on(io(1000, 5000, 100))), [0, 0, 0], 'at rest');
  t.strictSame(rates(on(io(1000, 5000, 9100))), [0, 0, 100], 'never more than all the time');
  t.strictSame(rates(on(io(2000, 5001, 600)), 0), [null, null, null], 'the first reading, or after a resume');
  t.strictSame(rates(on(io(10, 6000, 200))), [null, null, null], 'the device began anew');
  t.strictSame(rates(on(io(2000, 10, 200))), [null, null, null], 'the device began anew');
  t.strictSame(rates(on(io(3000, 5000, 5))), [1000, 0, null], 'its 32 bits of milliseconds began anew');
  const late = disk('/', { device: '/dev/sda1', io: io(1000, 5000, 2 ** 32 - 300) });
  const wrapped = (busyMs: number) =>
    deriveDiskDetail([late], [on(io(1000, 5000, busyMs))], 2)[0]?.busy_percent;
  t.equal(wrapped(200), 25, 'they wrapped: 300 ms before and 200 ms after it');
  t.equal(wrapped(2500), 100);
  t.equal(wrapped(5000), null, 'more than can have passed');
  t.strictSame(rates(on(io(2000, 6000, 200), '/dev/sdb1')), [null, null, null], 'another device');
  t.strictSame(rates(on(null)), [null, null, null]);
  t.strictSame(deriveDiskDetail([disk('/other')], [on(io(1, 1, 1))], 2)[0]?.read_rate, null, 'a new mount');
});

t.test('[3.detail-disks] the rates of a filesystem on several devices', async (t) => {
  const GIB = 2 ** 30;
  const on = (ioDevices: string, ...counters: Parameters<typeof io>) =>
    disk('/pool', { device: '/dev/sdb', ioDevices, io: io(...counters) });
  const ratesBetween = (...readings: readonly ReturnType<typeof disk>[]) =>
    readings.slice(1).map((after, at) => {
      const [found] = deriveDiskDetail(readings.slice(at, at + 1), [after], 2);
      return [found?.read_rate, found?.write_rate, found?.busy_percent];
    });
  const none = [null, null, null];
  t.strictSame(
    ratesBetween(
      on('sdb', 100, 200, 1000),
      on('sdb sdc', GIB, 5 * GIB, 90_000),
      on('sdb sdc', GIB + 600, 5 * GIB + 200, 90_500),
    ),
    [none, [300, 100, 25]],
    'a second device brings what it has ever counted, and its rate begins with its second reading',
  );
  t.strictSame(
    ratesBetween(
      on('sdb sdc', GIB, GIB, 1000),
      on('sdb sdd', GIB + 4000, GIB + 2000, 1500),
      on('sdb sdd', GIB + 5000, GIB + 2000, 1500),
    ),
    [none, [500, 0, 0]],
    'one that was replaced, by one that has counted more',
  );
  t.strictSame(
    ratesBetween(
      on('sdb sdc', GIB, GIB, 1000),
      on('sdb', GIB, GIB, 2000),
      on('sdb sdc', GIB + 10, GIB + 10, 2100),
      on('sdb sdc', GIB + 20, GIB + 30, 2100),
    ),
    [none, none, [5, 10, 0]],
    'one that is missing for a reading',
  );
});
