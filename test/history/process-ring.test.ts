/** The programs of each moment, kept for a limited time in a fixed number of bytes. */
import t from 'tap';
import { type ProcessMoment, ProcessRing } from '#src/history/process-ring.js';

const use = (name: string, value = 1) => ({ name, count: 1, value });

const moment = (takenAt: number, names: readonly string[] = ['a'], windowSeconds: number | null = 10) => ({
  takenAt,
  windowSeconds,
  cpu: names.map((name, i) => use(name, 50 - i)),
  memory: [use('m', 2 ** 40)],
  disk: null,
});

t.test('[3.history-ran] the moment whose window contains a time, or the nearest one before', async (t) => {
  const ring = new ProcessRing(60);
  t.equal(ring.at(1000), undefined);
  const all = [1000, 1010, 1020, 1080, 1140].map((at, i) =>
    moment(at, [`p${i}`], i === 0 ? null : i < 3 ? 10 : 60),
  );
  for (const each of all) ring.put(each);
  t.strictSame(ring.at(1000), all[0]);
  t.strictSame(ring.at(1010), all[1]);
  t.strictSame(ring.at(1000.5), all[1], 'the window ends with the reading');
  t.strictSame(ring.at(1021), all[3]);
  t.strictSame(ring.at(1139), all[4]);
  t.strictSame(ring.at(1141), all[4], 'the last one');
  t.strictSame(ring.at(1205), all[4]);
  t.equal(ring.at(1300), undefined, 'nothing is that near');
  t.equal(ring.at(900), undefined);
  t.strictSame(ring.within(1010, 1020), all[1]);
  t.equal(ring.within(1030, 1040), undefined);
});

t.test('[3.history-ran] without a window, the one before', async (t) => {
  const ring = new ProcessRing(60);
  ring.put(moment(1000, ['first'], null));
  ring.put(moment(1500, ['second'], null));
  t.equal(ring.at(1400), undefined);
  t.equal(ring.at(1060)?.cpu?.[0]?.name, 'first');
});

t.test('[3.history-bytes] bytes are fixed, and names go with the last moment that has them', async (t) => {
  const ring = new ProcessRing(60);
  const bytes = ring.byteLength;
  t.ok(bytes < 100_000, `${bytes} bytes for 60 minutes`);
  for (let i = 0; i < 5000; i++) ring.put(moment(10 * i, [`name ${i}`, `name ${i + 1}`, 'always']));
  t.equal(ring.size, 361);
  t.equal(ring.byteLength, bytes);
  t.equal(ring.nameCount, 362 + 2);
  const kept = [...ring];
  t.strictSame(kept.at(-1), moment(49_990, ['name 4999', 'name 5000', 'always']));
  t.strictSame(kept[0], moment(10 * 4639, ['name 4639', 'name 4640', 'always']));
});

t.test('[3.history-ran] a clock that is set back takes what lies after it', async (t) => {
  const ring = new ProcessRing(60);
  for (const at of [1000, 1010, 1020, 1030]) ring.put(moment(at, [`at ${at}`]));
  ring.put(moment(1015, ['again']));
  t.strictSame(
    [...ring].map(({ takenAt }: ProcessMoment) => takenAt),
    [1000, 1010, 1015],
  );
  t.equal(ring.nameCount, 4);
});
