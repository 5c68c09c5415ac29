/**
 * A crowd of which some never read and some stall now and then: the others notice nothing, memory stays, readers that
 * never read are cut, those that stall for 10 s are not. HOSTWIRE_FULL=1: ten thousand of them for five minutes.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import process from 'node:process';
import t from 'tap';
import { anonymousPssBytesOf } from '../../../bench/cpu.ts';
import { Sink, type Window } from '../../../bench/fanout-subjects.ts';
import { startService } from '../../helpers/service/service.ts';

const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
const SIZE = IS_FULL
  ? { healthy: 8900, stalled: 1000, wavering: 100, rounds: 5, readSeconds: 50, warmUpSeconds: 20 }
  : { healthy: 440, stalled: 50, wavering: 10, rounds: 1, readSeconds: 10, warmUpSeconds: 4 };
const STALL_SECONDS = 10;
const SECONDS = SIZE.rounds * (STALL_SECONDS + SIZE.readSeconds);
const SMALL_BUFFER = 4096;
const MAX_GROWTH_MIB = 8;
const GONE_WITHIN_SECONDS = 90;
/** They must be full within their 10 s: with detail events are several times as long. */
const LONG_EVENTS = '/api/stream?detail=1';

t.setTimeout(600_000);
const hasGcc = spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const descriptorsOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

/** Stalls all of a sink's subscribers for 10 s, lets them read for a while, and so on; returns what each phase saw. */
async function waver(sink: Sink): Promise<readonly Window[]> {
  const windows: Window[] = [];
  for (let round = 0; round < SIZE.rounds; round++) {
    await sink.stall(SIZE.wavering);
    windows.push(await sink.window(STALL_SECONDS));
    await sink.stall(0);
    windows.push(await sink.window(SIZE.readSeconds));
  }
  return windows;
}

/** Reads once per second the service's memory, and notes when at most `goneAtDescriptors` were open. */
async function watch(pid: number, goneAtDescriptors: number) {
  const memory: number[] = [];
  let goneAfter: number | undefined;
  const startedAt = performance.now();
  for (let second = 1; second <= SECONDS; second++) {
    await sleep(startedAt + second * 1000 - performance.now());
    memory.push(anonymousPssBytesOf(pid) / 2 ** 20);
    if (goneAfter === undefined && descriptorsOf(pid) <= goneAtDescriptors) goneAfter = second;
  }
  const warm = memory.slice(0, SIZE.warmUpSeconds);
  const grown = Math.max(...memory.slice(SIZE.warmUpSeconds)) - (warm.at(-1) ?? Number.NaN);
  return { grown, goneAfter };
}

t.test(
  `[4.stalled] ${SIZE.healthy} subscribers beside ${SIZE.stalled} that never read and ${SIZE.wavering} that stall now and then`,
  { skip: !hasGcc && 'needs gcc for the sink', timeout: 600_000 },
  async (t) => {
    const service = await startService({ config: { stats: { stream_interval_seconds: 1 } } });
    const healthy = new Sink(service.port);
    const stalled = new Sink(service.port, '/api/stream', SMALL_BUFFER);
    const wavering = new Sink(service.port, LONG_EVENTS, SMALL_BUFFER);
    t.teardown(async () => {
      await Promise.all([healthy, stalled, wavering].map((sink) => sink.stop()));
      await service.stop();
    });
    await healthy.open(SIZE.healthy);
    await wavering.open(SIZE.wavering);
    await stalled.open(SIZE.stalled);
    await stalled.stall(SIZE.stalled);
    const descriptors = descriptorsOf(service.pid);
    const [fed, wavered, { grown, goneAfter }] = await Promise.all([
      healthy.window(SECONDS),
      waver(wavering),
      watch(service.pid, descriptors - SIZE.stalled),
    ]);
    t.match(
      fed,
      { open: SIZE.healthy, torn: 0, doubled: 0, missed: 0, backwards: 0, alone: 0, lost: 0 },
      'the healthy miss nothing, get nothing twice and nothing torn',
    );
    t.ok(fed.fewest >= SECONDS - 1, `each got at least ${fed.fewest} in ${SECONDS} s`);
    t.ok(fed.most <= SECONDS + 1, `and at most ${fed.most}`);
    for (const window of wavered)
      t.match(
        window,
        { open: SIZE.wavering, torn: 0, doubled: 0, lost: 0 },
        'a reader that stalls for 10 s is not cut',
      );
    const reading = wavered.filter((_window, at) => at % 2 === 1);
    t.ok(
      reading.every(({ fewest }) => fewest >= SIZE.readSeconds - 1),
      `and continues: at least ${Math.min(...reading.map(({ fewest }) => fewest))} in ${SIZE.readSeconds} s`,
    );
    t.ok(grown <= MAX_GROWTH_MIB, `memory grew by ${grown.toFixed(1)} MiB`);
    t.comment(
      `figure: ${fed.events} events to the healthy, none missed; ${grown.toFixed(1)} MiB more memory`,
    );
    if (!IS_FULL) return;
    t.comment(`figure: clients that never read were gone after ${goneAfter} s`);
    t.ok((goneAfter ?? Number.POSITIVE_INFINITY) <= GONE_WITHIN_SECONDS, 'the stalled are gone within 90 s');
  },
);
