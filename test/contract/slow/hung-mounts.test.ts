/** The whole service beside filesystems that never answer: its ticks, its other answers, its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { EventStream } from '../../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../../helpers/clients/http.ts';
import { type HungMounts, openMountSpace, whyNoMountSpace } from '../../helpers/machine/hung-mounts.ts';
import { type ServiceProcess, startService } from '../../helpers/service/service.ts';

const TICKS = 12;
const MAX_LATER_MS = 5;
/** Other load on the machine hits one of the two services; a cost of the mounts would show every time. */
const ROUNDS = 4;

interface Disk {
  readonly fs: string;
  readonly used: number | null;
  readonly stale: boolean;
}

async function disksOf(service: ServiceProcess): Promise<readonly Disk[]> {
  const answer = await ask(service.port, '/api/usage?fields=disks&detail=1');
  // The contract's shape, held by other tests.
  return (jsonOf(answer) as { disks: readonly Disk[] }).disks;
}

const at = (disks: readonly Disk[], points: readonly string[]) =>
  disks.filter((disk) => points.includes(disk.fs));

/** How late each of the next ticks came, measured from the first of them. */
async function latenesses(stream: EventStream): Promise<readonly number[]> {
  const times: number[] = [];
  while (times.length < TICKS) times.push((await stream.next(10_000)).atMs);
  const earliest = Math.min(...times.map((time, index) => time - index * 1000));
  return times.map((time, index) => time - index * 1000 - earliest);
}

async function until(what: string, limitMs: number, isTrue: () => Promise<boolean>): Promise<number> {
  const started = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - started > limitMs) throw new Error(`${what}: not within ${limitMs} ms`);
    await sleep(100);
  }
  return performance.now() - started;
}

const areFresh = async (service: ServiceProcess, mounts: HungMounts) => {
  const found = at(await disksOf(service), mounts.points);
  return found.length === mounts.points.length && found.every((disk) => !disk.stale && disk.used !== null);
};

const reason = whyNoMountSpace();

t.setTimeout(200_000);

t.test('[3.disks-hang] eight filesystems that hang delay nothing', { skip: reason ?? false }, async (t) => {
  const space = await openMountSpace(t);
  const silent = await space.mountHung(4);
  const later = await space.mountHung(4);
  await later.answer();
  const config = { stats: { stream_interval_seconds: 1 } };
  const inside = await startService({ config, start: (...all) => space.start(...all) });
  const outside = await startService({ config });
  t.teardown(() => outside.stop('SIGKILL'));
  await until('answers of the four that answer', 20_000, () => areFresh(inside, later));

  await later.hang();
  await until('stale', 20_000, async () =>
    at(await disksOf(inside), later.points).every((disk) => disk.stale),
  );
  const kept = at(await disksOf(inside), later.points);
  t.ok(
    kept.every((disk) => disk.used === 3072000),
    'the ones that hang later keep their last values',
    { kept },
  );
  const never = at(await disksOf(inside), silent.points);
  t.equal(never.length, 4, 'those that never answered are in detail');
  t.ok(
    never.every((disk) => disk.stale && disk.used === null),
    'with nulls, and stale',
    { never },
  );
  const usual = jsonOf(await ask(inside.port, '/api/usage?fields=disks')) as { disks: readonly Disk[] };
  t.equal(at(usual.disks, silent.points).length, 0, 'and left out by default');
  t.equal(at(usual.disks, later.points).length, 4);

  const [inStream, outStream] = [await EventStream.open(inside.port), await EventStream.open(outside.port)];
  let difference = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && difference > MAX_LATER_MS; round++) {
    const [withThem, without] = await Promise.all([latenesses(inStream), latenesses(outStream)]);
    difference = Math.max(...withThem) - Math.max(...without);
    t.comment(
      `figure: latest of ${TICKS} ticks: ${Math.max(...withThem).toFixed(1)} ms with, ${Math.max(...without).toFixed(1)} ms without`,
    );
  }
  t.ok(difference <= MAX_LATER_MS, 'the latest tick is at most 5 ms later than without them', {
    difference,
  });
  t.equal((await ask(inside.port, '/api/system')).status, 200, 'system answers');
  t.equal((await ask(inside.port, '/api/usage')).status, 200, 'usage answers');

  await Promise.all([silent.answer(), later.answer()]);
  const took = await until(
    'fresh again',
    10_000,
    async () => (await areFresh(inside, silent)) && (await areFresh(inside, later)),
  );
  t.comment(`figure: all eight fresh ${Math.round(took)} ms after they answer again`);

  await Promise.all([silent.hang(), later.hang()]);
  await sleep(2500);
  const ending = await inside.stop();
  t.equal(ending.code, 0, 'SIGTERM while they hang');
  t.ok(ending.tookMs < 1000, 'ends within a second', { ending });
});
