/** When the recorder reads: idle, with subscribers, on battery, and after reloads. */
import t from 'tap';
import { untilMiddleMs } from '#src/history/recorder.js';
import { DETAIL_BITS } from '#src/stats/needs.js';
import { ALL, CPU, DETAIL } from '../stats/sampler-setup.ts';
import { batteryOf, setUpHistory } from './setup.ts';

const RECORDED_DETAILS = DETAIL_BITS.sensors | DETAIL_BITS.batteries | DETAIL_BITS.limits;

t.test('[4.history-idle] without subscribers it reads in the middle of each slot', async (t) => {
  const { clock, host, history, readTimes, samples, query } = setUpHistory();
  history.start();
  await clock.advance(40_000);
  // The first sample, of two readings, comes a second after the start, the next one in the middle of a slot.
  t.strictSame(readTimes(), [2000, 2200, 15_000, 25_000, 35_000]);
  t.ok(host.reads.every(({ withDetail, details }) => withDetail && details === RECORDED_DETAILS));
  t.strictSame(samples, [], 'subscribers would be sent none of these');
  const { series, available } = await query(40, 10);
  t.strictSame(series['cpu.load']?.mean, [50, 50, 50, 50, null]);
  t.strictSame(series['network.send']?.mean, [null, 1000, 1000, 1000, null]);
  t.equal(available, undefined);
});

t.test(
  '[4.history-shared] with subscribers it takes their samples, and reads no more than they do',
  async (t) => {
    const { clock, history, sampler, readTimes, sampleTimes, query } = setUpHistory();
    history.start();
    await clock.advance(15_000);
    sampler.subscribe(DETAIL);
    await clock.advance(60_000);
    t.strictSame(readTimes().slice(3), sampleTimes());
    const { series } = await query(30);
    t.ok(
      series['cpu.core/0']?.mean.slice(0, 28).every((value) => value === 50),
      'each second is known',
    );
    sampler.unsubscribe(DETAIL);
    const { length } = readTimes();
    await clock.advance(60_000);
    t.equal(readTimes().length, length + 6, 'then it goes on by itself');
  },
);

t.test('[4.history-shared] sections without subscribers are read with their ticks', async (t) => {
  const { clock, history, sampler, readTimes, sampleTimes, query } = setUpHistory();
  sampler.subscribe(CPU);
  history.start();
  await clock.advance(60_000);
  t.strictSame(readTimes(), sampleTimes(), 'no reading is added');
  const { series } = await query(50, 10);
  t.ok(series['memory.used']?.mean.slice(1, 5).every((value) => value !== null));
  const fine = (await query(30)).series['cpu.load']?.mean.slice(0, 28);
  t.ok(fine?.every((value) => value === 50));
});

t.test('[4.history-idle] [4.history-reload] idle_interval_seconds: 0 reads nothing of its own', async (t) => {
  const { clock, history, sampler, readTimes, reload, query } = setUpHistory({ idle_interval_seconds: 0 });
  history.start();
  await clock.advance(600_000);
  t.strictSame(readTimes(), []);
  t.equal(clock.timers, 0);
  sampler.subscribe(ALL);
  await clock.advance(10_000);
  t.equal(readTimes().length, 5);
  t.ok((await query(20, 10)).series['cpu.load'], 'but it records what others ask for');
  sampler.unsubscribe(ALL);
  reload({ idle_interval_seconds: 5 });
  await clock.advance(30_000);
  t.equal(readTimes().length, 12, 'at once after a reload');
  reload({ idle_interval_seconds: 0 });
  await clock.advance(60_000);
  t.equal(readTimes().length, 12);
});

t.test('[4.demand] [4.history-reload] minutes: 0 reads and keeps nothing, even when watched', async (t) => {
  const { clock, history, sampler, readTimes, sampleTimes, reload, query } = setUpHistory({ minutes: 0 });
  history.start();
  t.equal(history.isOn, false);
  await clock.advance(3_600_000);
  t.strictSame([readTimes(), clock.timers, history.bytes], [[], 0, 0]);
  sampler.subscribe(CPU);
  await clock.advance(20_000);
  t.strictSame(readTimes(), sampleTimes());
  t.match(await query(60, 10), { series: {}, unknown: ['*'], marks: [], events: [] });
  sampler.unsubscribe(CPU);
  reload({ minutes: 60 });
  t.equal(history.isOn, true);
  const { length } = readTimes();
  await clock.advance(30_000);
  t.ok(readTimes().length >= length + 3);
  t.ok(history.bytes > 0);
  reload({ minutes: 0 });
  const after = readTimes().length;
  await clock.advance(60_000);
  t.strictSame([readTimes().length, history.bytes, history.isOn], [after, 0, false]);
  t.equal(clock.timers, 0);
});

t.test('[4.history-idle] [4.history-reload] on battery it rests without subscribers', async (t) => {
  const { clock, host, history, sampler, readTimes, reload } = setUpHistory();
  const onBattery = (isOn: boolean) => {
    host.change = { batteries: [batteryOf(isOn ? 'discharging' : 'charging')] };
  };
  onBattery(true);
  history.start();
  await clock.advance(301_000);
  t.equal(readTimes().length, 6, 'one sample of two readings, then one reading per minute');
  t.ok(
    host.reads.slice(2).every(({ sections, details }) => sections === 0 && details === DETAIL_BITS.batteries),
    'of the battery alone',
  );
  sampler.subscribe(CPU);
  await clock.advance(30_000);
  const detailed = () => host.reads.filter(({ sections }) => sections === 31).length;
  const whileListened = detailed();
  t.ok(whileListened >= 3, 'with a subscriber it goes on');
  sampler.unsubscribe(CPU);
  await clock.advance(600_000);
  t.ok(detailed() <= whileListened + 1, 'and rests again when it has left');
  const { length } = readTimes();
  onBattery(false);
  await clock.advance(121_000);
  t.ok(readTimes().length > length + 4, 'the mains are noticed within a minute');
  onBattery(true);
  await clock.advance(60_000);
  const resting = detailed();
  reload({ on_battery: true });
  await clock.advance(30_000);
  t.ok(detailed() >= resting + 3, 'on_battery takes effect at once');
});

t.test('[4.history-marks] a machine that sleeps leaves a gap and a mark', async (t) => {
  const { clock, history, query } = setUpHistory();
  history.start();
  await clock.advance(34_500);
  clock.suspend(600_000);
  await clock.advance(30_000);
  const { series, marks, start } = await query(660, 10);
  const known = (series['memory.used']?.mean ?? []).flatMap((value, at) =>
    value === null ? [] : [start + 10 * at],
  );
  // Timers do not run during the suspend: the reading of 45 s comes 600 s later, the others in the middle of slots again.
  t.strictSame(
    known.map((at) => at - 1e9),
    [0, 10, 20, 30, 640, 650, 660].slice(0, known.length),
  );
  t.ok(known.length >= 6);
  t.match(marks, [
    { kind: 'start', at: 1e9 + 0.5, text: 'hostwire 1.2.3 started.' },
    { kind: 'suspend', at: 1e9 + 645, seconds: 600, text: 'The machine slept for 10 min.' },
  ]);
  const seconds = await query(60);
  const first = seconds.series['memory.used']?.mean.findIndex((value) => value !== null) ?? -1;
  t.equal(seconds.start + first, 1e9 + 645, 'the first value after it holds for none of the time before');
});

t.test('series beyond the limit are left out, with one line in the log', async (t) => {
  const { clock, host, history, warnings } = setUpHistory();
  const { disks } = {
    disks: Array.from({ length: 300 }, (_, at) => ({ mountPoint: `/m${at}`, usage: null })),
  };
  const usage = { totalBytes: 10, freeBytes: 5, availableBytes: 5 };
  const io = { readBytes: 0, writeBytes: 0, busyMs: 0 };
  host.change = { disks: disks.map((disk) => ({ ...disk, usage, device: disk.mountPoint, io })) };
  history.start();
  await clock.advance(60_000);
  t.equal(warnings.length, 1);
  t.match(warnings[0], /^the history is limited to 512 series; \d+ in this reading are not recorded$/);
});

t.test('the middle of a slot', async (t) => {
  t.equal(untilMiddleMs(1e12, 10_000), 5000);
  t.equal(untilMiddleMs(1e12 + 100, 10_000), 14_900, 'not sooner than half an interval');
  t.equal(untilMiddleMs(1e12 + 5003, 10_000), 9997, 'lateness never adds up');
  t.equal(untilMiddleMs(1e12 + 4997, 10_000), 10_003);
  t.equal(untilMiddleMs(1e12 + 500, 1000), 1000);
  t.equal((1e12 + 15_000 + untilMiddleMs(1e12 + 15_000, 30_000)) % 10_000, 5000);
});
