/** The page's values: their formats. */
import t from 'tap';
import { bytes, clock, duration, measured, percent, rate, rateTick } from '../../web/format.ts';
import { shareOf } from '../../web/history.ts';
import { readSample } from '../../web/sample.ts';

t.test('unknown values of every kind are n/a', async (t) => {
  for (const write of [percent, bytes, rate, rateTick, clock, duration])
    for (const unknown of [null, undefined, Number.NaN, Number.POSITIVE_INFINITY])
      t.equal(write(unknown), 'n/a');
  t.equal(measured(null, 'V'), 'n/a');
});

t.test('sizes have three significant digits', async (t) => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0 B'],
    [999, '999 B'],
    [1000, '0.98 KiB'],
    [1024, '1.00 KiB'],
    [10_239, '10.0 KiB'],
    [102_348, '99.9 KiB'],
    [1023 * 1024, '1.00 MiB'],
    [1024 ** 3, '1.00 GiB'],
    [16.05 * 1024 ** 3, '16.1 GiB'],
    [5000 * 1024 ** 5, '5000 PiB'],
  ];
  for (const [value, text] of cases) t.equal(bytes(value), text);
  t.equal(rateTick(8 * 1024 ** 2), '8 MiB/s');
});

t.test('times', async (t) => {
  t.equal(clock(0), '0:00');
  t.equal(clock(187.9), '3:07');
  t.equal(clock(3723), '1:02:03');
  t.equal(duration(59), '0 min');
  t.equal(duration(7500), '2 h 5 min');
  t.equal(duration(3 * 86_400 + 4 * 3600), '3 d 4 h');
});

t.test('shares', async (t) => {
  t.equal(shareOf(1, 4), 25);
  t.equal(shareOf(null, 4), null);
  t.equal(shareOf(1, null), null);
  t.equal(shareOf(0, 0), null);
});

t.test('a sample that is malformed in part has the other parts', async (t) => {
  const cpu = { current_load: 1, cores: [1], speeds: [] };
  const sound = {
    timestamp: 5,
    uptime: 1,
    interval_seconds: 2,
    cpu,
    gpu: null,
    memory: { swap: null },
    disks: [{ fs: '/' }],
    network: { interfaces: [{ name: 'eth0', addresses: [] }] },
    sensors: [{ label: 'a b' }],
    batteries: [],
    drives: [{ name: 'sda', health: null }],
    limits: null,
    processes: { top_cpu: null, top_memory: [] },
    later: 'x',
  };
  t.same(readSample(sound), sound);
  for (const [part, otherwise] of [
    [{ disks: null }, { disks: undefined }],
    [{ disks: [null] }, { disks: undefined }],
    [{ cpu: { cores: null } }, { cpu: undefined }],
    [{ gpu: {} }, { gpu: undefined }],
    [{ network: { interfaces: [{ name: 'eth0' }] } }, { network: undefined }],
    [{ sensors: [{ label: 7 }] }, { sensors: [] }],
    [{ drives: {} }, { drives: [] }],
    [{ limits: 'x' }, { limits: null }],
    [{ interval_seconds: '2' }, { interval_seconds: 1 }],
  ])
    t.same(readSample({ ...sound, ...part }), { ...sound, ...otherwise }, JSON.stringify(part));
  for (const none of [null, [], 'x', {}, { ...sound, timestamp: 1e300 }, { ...sound, timestamp: '5' }])
    t.equal(readSample(none), undefined);
});
