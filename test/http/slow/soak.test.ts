/**
 * A crowd with all troubles together: some clients never read, some vanish silently, and all the time others come and
 * go. The rest misses nothing, memory does not grow, every descriptor comes back, and SIGTERM ends each stream with its
 * last chunk. HOSTWIRE_FULL=1: ten thousand for ten minutes; the troubled clients are cut and replaced every minute.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import t, { type Test } from 'tap';
import { anonymousPssBytesOf } from '../../../bench/cpu.ts';
import { Sink } from '../../../bench/fanout-subjects.ts';
import { churn } from '../../helpers/clients/churn.ts';
import { type Cable, layCable, reasonAgainstCable } from '../../helpers/clients/network-namespace.ts';
import { checkTime } from '../../helpers/limits.ts';
import { type ProbedService, startProbed } from '../../helpers/service/probed.ts';
import { socketsOf } from '../open-sockets.ts';

const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
const SIZE = IS_FULL
  ? { healthy: 8000, stalled: 1000, vanished: 1000, rounds: 10, roundSeconds: 60 }
  : { healthy: 400, stalled: 50, vanished: 50, rounds: 2, roundSeconds: 4 };
const SECONDS = SIZE.rounds * SIZE.roundSeconds;
const COMING_PER_SECOND = 50;
/** Short-lived clients at any moment: each stays for a second. */
const COMING = COMING_PER_SECOND;
/** After a collection, from the first round to the last. */
const MAX_GROWTH_MIB = 4;
/** Between two collections. */
const MAX_PEAK_MIB = 24;
/** Their sockets are full after some seconds, and silent ones are cut after 20 to 25 s. */
const GONE_WITHIN_SECONDS = 55;
/** For each interface of the machine the service keeps a file open, and tests beside this one make some. */
const MAX_MORE_FILES = 8;
const SMALL_BUFFER = 4096;
/** With detail the sockets of the clients that never read are full sooner. */
const LONG_EVENTS = '/api/stream?detail=1';

t.setTimeout(900_000);
const hasGcc = spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const mib = (bytes: number) => bytes / 2 ** 20;

interface Crowd {
  readonly service: ProbedService;
  readonly cable: Cable;
  /** The service's sockets that are not connections. */
  readonly own: number;
}

const connectionsOf = ({ service, own }: Crowd) => socketsOf(service.pid) - own;
const filesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length - socketsOf(pid);

async function until(isDone: () => boolean, limitSeconds: number): Promise<boolean> {
  const deadline = performance.now() + limitSeconds * 1000;
  while (!isDone() && performance.now() < deadline) await sleep(500);
  return isDone();
}

async function start(t: Test): Promise<Crowd & { readonly healthy: Sink }> {
  const cable = layCable(t);
  // The clients that vanish come by the cable, the others by loopback.
  const service = await startProbed({ stats: { stream_interval_seconds: 1 } }, '0.0.0.0');
  const healthy = new Sink(service.port);
  t.teardown(async () => {
    await healthy.stop();
    await service.stop('SIGKILL');
  });
  await healthy.open(1);
  // Opens what the service opens once and keeps.
  await churn(service.port, 2000, COMING);
  const detailed = new Sink(service.port, LONG_EVENTS);
  await detailed.open(1);
  await detailed.window(2);
  await detailed.stop();
  await sleep(1000);
  const own = socketsOf(service.pid) - 1;
  await healthy.open(SIZE.healthy);
  return { service, cable, own, healthy };
}

/** Opens the clients that never read and those that vanish; waits until they are cut, or ends them. */
async function trouble(t: Test, crowd: Crowd, endsAt: number): Promise<void> {
  const { service, cable } = crowd;
  const stalled = new Sink(service.port, LONG_EVENTS, SMALL_BUFFER);
  const vanished = new Sink(service.port, '/api/stream', 0, cable);
  t.teardown(() => Promise.all([stalled.stop(), vanished.stop()]));
  await stalled.open(SIZE.stalled);
  await stalled.stall(SIZE.stalled);
  await vanished.open(SIZE.vanished);
  cable.cut();
  const cutAt = performance.now();
  const areGone = () => connectionsOf(crowd) <= SIZE.healthy + COMING;
  const left = () => (endsAt - performance.now()) / 1000;
  if (IS_FULL && (await until(areGone, left())))
    t.comment(`all in trouble were gone after ${((performance.now() - cutAt) / 1000).toFixed(1)} s`);
  if (IS_FULL) t.ok(performance.now() - cutAt < GONE_WITHIN_SECONDS * 1000, 'cut in time');
  else await sleep(left() * 1000);
  cable.mend();
  await Promise.all([stalled.stop(), vanished.stop()]);
  t.ok(await until(areGone, 10), `${connectionsOf(crowd)} connections`);
}

/** The rounds; returns the memory after each, collected, and the maximum in between. */
async function troubles(t: Test, crowd: Crowd) {
  const { service } = crowd;
  const startedAt = performance.now();
  const collected: number[] = [];
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, mib(anonymousPssBytesOf(service.pid)));
  }, 2000);
  for (let round = 1; round <= SIZE.rounds; round++) {
    const endsAt = startedAt + round * SIZE.roundSeconds * 1000;
    await trouble(t, crowd, endsAt);
    await sleep(endsAt - performance.now());
    await service.collect();
    collected.push(mib(anonymousPssBytesOf(service.pid)));
  }
  clearInterval(look);
  return { collected, peak };
}

function checkMemory(t: Test, { collected, peak }: { collected: readonly number[]; peak: number }): void {
  const [first = Number.NaN] = collected;
  const growth = (collected.at(-1) ?? Number.NaN) - first;
  t.comment(
    `figure: ${collected.map((value) => value.toFixed(1)).join(', ')} MiB after each round, ${peak.toFixed(1)} at most`,
  );
  t.ok(growth <= MAX_GROWTH_MIB, `${growth.toFixed(1)} MiB more after the last round than after the first`);
  t.ok(peak - first <= MAX_PEAK_MIB, `${(peak - first).toFixed(1)} MiB more meanwhile`);
}

const threadsOf = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').trim());

const { healthy: HEALTHY, stalled: STALLED, vanished: VANISHED } = SIZE;

t.test(
  `[4.stalled] ${HEALTHY} beside ${STALLED} that never read, ${VANISHED} that vanish and ${COMING_PER_SECOND} who come and go per second`,
  { skip: reasonAgainstCable() || (!hasGcc && 'needs gcc for the sink'), timeout: 900_000 },
  async (t) => {
    const { healthy, ...crowd } = await start(t);
    const { service } = crowd;
    const files = filesOf(service.pid);
    t.ok(threadsOf(service.pid).includes('hostwire-stream'), 'the native writer serves');
    const [fed, memory] = await Promise.all([
      healthy.window(SECONDS),
      troubles(t, crowd),
      churn(service.port, SECONDS * COMING_PER_SECOND, COMING, COMING_PER_SECOND),
    ]);
    t.match(
      fed,
      { open: HEALTHY, torn: 0, doubled: 0, missed: 0, backwards: 0, alone: 0, lost: 0, ended: 0 },
      'the others miss nothing, get nothing twice and nothing torn',
    );
    t.ok(fed.most - fed.fewest <= 1, `each got ${fed.fewest} to ${fed.most} events in ${SECONDS} s`);
    t.comment(`figure: ${fed.events} events to the healthy in ${SECONDS} s, ${fed.missed} missed`);
    checkMemory(t, memory);
    await until(() => connectionsOf(crowd) === HEALTHY, 10);
    t.equal(connectionsOf(crowd), HEALTHY, "everybody else's socket is closed");
    t.ok(
      filesOf(service.pid) <= files + MAX_MORE_FILES,
      `${files} other descriptors before, ${filesOf(service.pid)} after`,
    );

    const last = healthy.window(3);
    await sleep(700);
    const { code, tookMs } = await service.stop('SIGTERM');
    t.equal(code, 0);
    checkTime(t, tookMs, 1000, `SIGTERM under ${HEALTHY} streams`);
    t.match(
      await last,
      { torn: 0, doubled: 0, missed: 0, lost: 0, cutShort: 0, ended: HEALTHY },
      'each stream ends with its last chunk',
    );
  },
);
