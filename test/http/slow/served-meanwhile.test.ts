/**
 * Requests and commands while the fan-out works: none waits longer than two of its slices, whose length is measured
 * in the service. With HOSTWIRE_FULL=1 beside ten thousand subscribers.
 */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import t from 'tap';
import { median } from '../../../bench/cpu.ts';
import { Sink } from '../../../bench/fanout-subjects.ts';
import { ask } from '../../helpers/clients/http.ts';
import { percentile } from '../../helpers/service/media.ts';
import { startProbed } from '../../helpers/service/probed.ts';

const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
const SUBSCRIBERS = IS_FULL ? 10_000 : 2000;
const RUN_SECONDS = IS_FULL ? 8 : 2;
/** A short run shares its machine with other tests. */
const LIMIT_MS = IS_FULL ? 20 : 100;
/** CPU time, which other processes cannot lengthen: a slice's 4 ms, a clock check every 32 writes, a collection. */
const LONGEST_CPU_MS = 10;
const REQUESTS = [
  { what: 'GET /api/status', target: '/api/status', method: 'GET' },
  { what: 'POST /api/pw/sleep, recorded', target: '/api/pw/sleep', method: 'POST' },
] as const;

t.setTimeout(280_000);
const hasGcc = spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks by turns until the time is up; returns how long each answer took, by request. */
async function askFor(port: number, seconds: number): Promise<readonly (readonly number[])[]> {
  const times: number[][] = REQUESTS.map(() => []);
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until)
    for (const [at, { target, method }] of REQUESTS.entries()) {
      const startedAt = performance.now();
      const { status } = await ask(port, target, { method });
      times[at]?.push(performance.now() - startedAt);
      if (status !== 200) throw new Error(`${method} ${target}: ${status}`);
      // At any moment of the service's second, not always just after it has answered.
      await sleep(1 + 4 * Math.random());
    }
  return times;
}

t.test(
  `requests are answered while ${SUBSCRIBERS} subscribers are fed`,
  { skip: !hasGcc && 'needs gcc for the sink', timeout: 240_000 },
  async (t) => {
    const service = await startProbed({ stats: { stream_interval_seconds: 1 } });
    const sink = new Sink(service.port);
    t.teardown(async () => {
      await sink.stop();
      await service.stop();
    });
    await sink.open(SUBSCRIBERS);
    await sink.window(IS_FULL ? 3 : 1);
    const longest: number[] = [];
    const longestCpu: number[] = [];
    const p99s: number[][] = REQUESTS.map(() => []);
    for (let run = 0; run < 3; run++) {
      await service.readHolds();
      const feeding = sink.window(RUN_SECONDS);
      const times = await askFor(service.port, RUN_SECONDS - 0.2);
      t.match(await feeding, { open: SUBSCRIBERS, torn: 0, doubled: 0, missed: 0, alone: 0, lost: 0 });
      const { longestMs, longestCpuMs, holds } = await service.readHolds();
      t.ok(longestMs > 0 && holds >= RUN_SECONDS, 'slices were measured');
      longest.push(longestMs);
      longestCpu.push(longestCpuMs);
      for (const [at, list] of times.entries()) p99s[at]?.push(percentile(list, 0.99));
    }
    const slice = median(longest);
    t.ok(
      median(longestCpu) <= LONGEST_CPU_MS,
      `at most ${median(longestCpu).toFixed(1)} ms of CPU time per slice`,
    );
    const limit = IS_FULL ? Math.min(LIMIT_MS, 2 * slice + 5) : LIMIT_MS;
    const shown = (values: readonly number[]) => values.map((ms) => ms.toFixed(1)).join(', ');
    t.comment(`figure: longest slices beside ${SUBSCRIBERS} subscribers ${shown(longest)} ms`);
    for (const [at, { what }] of REQUESTS.entries()) {
      const p99 = median(p99s[at] ?? []);
      t.comment(`figure: p99 of ${what}: ${shown(p99s[at] ?? [])} ms`);
      t.ok(p99 <= limit, `${what}: ${p99.toFixed(1)} ms of ${limit.toFixed(1)} ms`);
    }
  },
);
