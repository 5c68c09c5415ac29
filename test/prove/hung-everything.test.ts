/**
 * 64 network mounts, a sensor and a graphics driver hang together, beside mounts that have never answered: the service as a
 * whole still works, and in time.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { whyNoMountSpace } from '../helpers/machine/hung-mounts.ts';
import type { ServiceProcess } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { startTroubled, type WatchedService } from './troubled-machine.ts';

const MOUNTS = 64;
/** One per second. */
const TICKS = 100;
/** Other load on the machine delays one of the services in some rounds; a cost of the hang would show in each round. */
const ROUNDS = 3;
/** What a mount shows once it has answered: hung_mount.c has 750 of 1,000 blocks of 4 KiB in use. */
const USED_BYTES = 3_072_000;
const MAX_LATER_MS = 5;
const MAX_EXTRA_BYTES = 2e6;
const DETAIL = '/api/stream?detail=1';

interface Detail {
  readonly disks: readonly { readonly fs: string; readonly used: number | null; readonly stale: boolean }[];
  readonly gpu: object | null;
  readonly sensors: readonly { readonly label: string; readonly value: number | null }[];
}

/** Reads a detailed stream: every sample with its time of arrival. */
async function follow(service: ServiceProcess) {
  const stream = await EventStream.open(service.port, DETAIL);
  const samples: { readonly atMs: number; readonly detail: Detail }[] = [];
  const reading = (async () => {
    while (!stream.isEnded) {
      const event = await stream.next(20_000);
      // The contract's shape, which other tests check.
      if (event.text !== ':')
        samples.push({ atMs: event.atMs, detail: payloadOf(event) as unknown as Detail });
    }
  })().catch(() => undefined);
  return { samples, latest: () => samples.at(-1)?.detail, close: () => stream.close(), reading };
}
type Followed = Awaited<ReturnType<typeof follow>>;

/** Milliseconds until `isTrue`. */
async function timeUntil(what: string, limitMs: number, isTrue: () => boolean): Promise<number> {
  const startedAt = performance.now();
  await until(isTrue, what, limitMs);
  return performance.now() - startedAt;
}

const disksAt = (detail: Pick<Detail, 'disks'> | undefined, points: readonly string[]) =>
  detail?.disks.filter(({ fs }) => points.includes(fs)) ?? [];
const staleOf = (detail: Detail | undefined, points: readonly string[]) =>
  disksAt(detail, points).filter(({ stale }) => stale).length;
const freshOf = (detail: Detail | undefined, points: readonly string[]) =>
  disksAt(detail, points).filter(({ used, stale }) => !stale && used !== null).length;
const doesSensorAnswer = (detail: Detail | undefined) =>
  detail?.sensors.some(({ value }) => value === 41) === true;
const hasGpu = (detail: Detail | undefined) => detail !== undefined && detail.gpu !== null;

/** Lateness of each tick in ms, measured from a schedule of one tick per second through the earliest one. */
function latenesses(samples: Followed['samples']): readonly number[] {
  const offsets = samples.map(({ atMs }, index) => atMs - index * 1000);
  const earliest = Math.min(...offsets);
  return offsets.map((offset) => offset - earliest);
}

function p99(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Math.max(...values);
}

/** The minimum of eight readings: V8 allocates pages for a collection and returns them at a time of its choice. */
async function memoryOf(service: WatchedService): Promise<number> {
  const bytes: number[] = [];
  for (let i = 0; i < 8; i++) {
    bytes.push(await service.anonymousBytes());
    await sleep(1100);
  }
  return Math.min(...bytes);
}

/** Milliseconds from a change of the configuration file until it takes effect: processes can no longer be listed. */
async function timeReload(service: ServiceProcess): Promise<number> {
  const isOff = async () => (await ask(service.port, '/api/processes')).status !== 200;
  if (await isOff()) throw new Error('there is nothing to switch off');
  // The test wrote this file.
  const config = JSON.parse(readFileSync(service.configFile, 'utf8')) as object;
  const started = performance.now();
  writeFileSync(service.configFile, JSON.stringify({ ...config, features: { enable_processes: false } }));
  await until(isOff, 'the reload', 10_000);
  return performance.now() - started;
}

const reason = whyNoMountSpace();

t.setTimeout(600_000);

t.test(
  `[3.disks-hang] [3.sensors-failing] [3.gpu-hang] ${MOUNTS} mounts, a sensor and a graphics driver together`,
  { skip: reason ?? false, timeout: 600_000 },
  async (t) => {
    const machine = await startTroubled(t, MOUNTS);
    // The same mounts, sensor and GPU, always answering: if both services are late or large, the hang is not the cause.
    const { service: other, points: otherPoints } = await startTroubled(t, MOUNTS);
    const { service, points, silent } = machine;
    const [inside, outside] = [await follow(service), await follow(other)];
    t.teardown(() => [inside, outside].forEach((followed) => followed.close()));
    const areAllFresh = (followed: Followed, wanted: readonly string[]) => {
      const now = followed.latest();
      return freshOf(now, wanted) === MOUNTS && doesSensorAnswer(now) && hasGpu(now);
    };
    const areFresh = () => areAllFresh(inside, points);
    await until(areFresh, 'all answer', 30_000);
    await until(() => areAllFresh(outside, otherPoints), 'the other, too', 30_000);
    // Time to collect the garbage of the start and to compile the code of a sample.
    await sleep(30_000);
    const before = [await memoryOf(service), await memoryOf(other)] as const;

    await machine.hang();
    const noticed = await timeUntil('all hang', 40_000, () => {
      const now = inside.latest();
      return staleOf(now, points) === MOUNTS && !doesSensorAnswer(now) && !hasGpu(now);
    });
    t.comment(
      `figure: ${MOUNTS} mounts, a chip and a GPU are all reported as not answering after ${Math.round(noticed)} ms`,
    );

    const kept = disksAt(inside.latest(), points);
    t.strictSame([...new Set(kept.map(({ used }) => used))], [USED_BYTES], 'they keep their last values');
    const never = disksAt(inside.latest(), silent);
    t.strictSame(
      never.map(({ used, stale }) => [used, stale]),
      silent.map(() => [null, true]),
      'those that never answered are in detail, with nulls, and stale',
    );
    const usual = await ask(service.port, '/api/usage?fields=disks');
    t.strictSame(disksAt(jsonOf(usual) as Detail, silent), [], 'and left out by default'); // The same shape.
    t.equal((await ask(service.port, '/api/system')).status, 200, 'system answers');

    let difference = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS && difference > MAX_LATER_MS; round++) {
      const [from, fromOther] = [inside.samples.length, outside.samples.length];
      await until(() => inside.samples.length >= from + TICKS, `${TICKS} ticks`, TICKS * 1500);
      const seen = inside.samples.slice(from);
      const [withThem, without] = [p99(latenesses(seen)), p99(latenesses(outside.samples.slice(fromOther)))];
      difference = withThem - without;
      t.comment(
        `figure: lateness p99 of ${TICKS} detailed ticks ${withThem.toFixed(1)} ms with the hang, ${without.toFixed(1)} ms without`,
      );
      const stale = seen.filter(({ detail }) => freshOf(detail, ['/']) !== 1).length;
      t.equal(stale, 0, `/ is fresh in each of ${seen.length} samples`);
    }
    t.ok(difference <= MAX_LATER_MS, `p99 is at most ${MAX_LATER_MS} ms later`, { difference });

    const after = [await memoryOf(service), await memoryOf(other)] as const;
    const grown = [after[0] - before[0], after[1] - before[1]] as const;
    const kib = (bytes: number) => `${Math.round(bytes / 1024)} KiB`;
    t.comment(
      `figure: anonymous memory ${kib(before[0])} before, ${kib(after[0])} while they hang (${kib(grown[0])} more; without a hang ${kib(grown[1])} more in the same time)`,
    );
    t.ok(grown[0] - Math.max(0, grown[1]) <= MAX_EXTRA_BYTES, 'at most 2 MB more', { before, after });

    const [reload, otherReload] = [await timeReload(service), await timeReload(other)];
    t.comment(`figure: reload ${Math.round(reload)} ms with the hang, ${Math.round(otherReload)} ms without`);
    t.ok(reload <= otherReload + 500, 'a reload is as quick');

    await machine.recover();
    const took = await timeUntil(
      'fresh again',
      20_000,
      () => areFresh() && freshOf(inside.latest(), silent) === silent.length,
    );
    t.comment(`figure: all fresh ${Math.round(took)} ms after they answer again`);
    t.ok(took <= 10_000, 'all are fresh within 10 s');

    await machine.hang();
    await sleep(2500);
    const [ending, otherEnding] = [await service.stop(), await other.stop()];
    t.comment(
      `figure: SIGTERM to exit ${Math.round(ending.tookMs)} ms with the hang, ${Math.round(otherEnding.tookMs)} ms without`,
    );
    t.equal(ending.code, 0);
    t.ok(ending.tookMs < 1000 && ending.tookMs < otherEnding.tookMs + 300, 'SIGTERM is as quick');
    await Promise.all([inside.reading, outside.reading]);
  },
);
