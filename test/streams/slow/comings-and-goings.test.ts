/**
 * Subscribers that come and go leave nothing behind: no descriptor, no memory. With HOSTWIRE_FULL=1 rounds of
 * 5,000 subscribers and 200,000 connections.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { anonymousPssBytesOf, median } from '../../../bench/cpu.ts';
import { Sink } from '../../../bench/fanout-subjects.ts';
import { churn } from '../../helpers/clients/churn.ts';
import { type ProbedService, startProbed } from '../../helpers/service/probed.ts';
import { until } from '../../helpers/until.ts';

const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
const CONNECTIONS = IS_FULL ? 200_000 : 2000;
const SUBSCRIBERS = IS_FULL ? 5000 : 1000;
const FED_SECONDS = IS_FULL ? 10 : 1.5;
const ABREAST = 200;
const MIB = 1 << 20;

const hasGcc = spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0;
t.setTimeout(300_000);
const needs = { skip: !hasGcc && 'needs gcc for the sink', timeout: 300_000 };

function openService(t: Test): Promise<ProbedService> {
  const started = startProbed({ stats: { stream_interval_seconds: 1 } });
  t.teardown(async () => await (await started).stop());
  return started;
}

const descriptorsOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

/** The heap after a collection. Without one its size is a matter of chance: ten megabytes more or less. */
async function memoryOf(service: ProbedService) {
  const before = anonymousPssBytesOf(service.pid);
  const { heapUsedBytes } = await service.collect();
  const readings: number[] = [];
  for (let i = 0; i < 10; i++) {
    await sleep(40);
    readings.push(anonymousPssBytesOf(service.pid));
  }
  return { heapMib: heapUsedBytes / MIB, pssMib: median(readings) / MIB, uncollectedMib: before / MIB };
}

/** The first thousands leave lasting things: compiled code, the usual heap size, the files of the first sample. */
async function warmUp(service: ProbedService): Promise<void> {
  await churn(service.port, IS_FULL ? 100_000 : 8000, ABREAST);
  await sleep(1000);
}

t.test(`${CONNECTIONS} connects and disconnects leak nothing`, needs, async (t) => {
  const service = await openService(t);
  await warmUp(service);
  const before = await memoryOf(service);
  const descriptors = descriptorsOf(service.pid);
  await churn(service.port, CONNECTIONS, ABREAST);
  await until(() => descriptorsOf(service.pid) <= descriptors, 'no descriptor is left');
  await sleep(1000);
  const after = await memoryOf(service);
  const heap = after.heapMib - before.heapMib;
  const pss = after.pssMib - before.pssMib;
  t.comment(
    `figure: ${CONNECTIONS} connections left ${heap.toFixed(2)} MiB of heap, ${pss.toFixed(1)} MiB in all`,
  );
  // 1 MiB for 200,000 connections would be 5 bytes per connection. The rest belongs to malloc and varies.
  t.ok(heap <= 1, `${heap.toFixed(2)} MiB of heap`);
  t.ok(pss <= 4, `${pss.toFixed(1)} MiB in all`);
  const sink = new Sink(service.port);
  t.teardown(() => sink.stop());
  await sink.open(SUBSCRIBERS);
  t.match(await sink.window(1.5), { open: SUBSCRIBERS, torn: 0, missed: 0, lost: 0 }, 'others are served');
});

t.test(`four rounds of ${SUBSCRIBERS} subscribers, in and out`, needs, async (t) => {
  const service = await openService(t);
  const sink = new Sink(service.port);
  t.teardown(() => sink.stop());
  await warmUp(service);
  await sink.open(1);
  await sink.window(1);
  const descriptors = descriptorsOf(service.pid);
  const fed: number[] = [];
  const left: number[] = [];
  const uncollected: number[] = [];
  for (let round = 0; round < 4; round++) {
    await sink.open(SUBSCRIBERS);
    const window = await sink.window(FED_SECONDS);
    t.match(window, { open: SUBSCRIBERS, torn: 0, doubled: 0, missed: 0, alone: 0, lost: 0 });
    const { pssMib, uncollectedMib } = await memoryOf(service);
    fed.push(pssMib);
    uncollected.push(uncollectedMib);
    await sink.close(1);
    await until(() => descriptorsOf(service.pid) <= descriptors, 'all have left');
    left.push((await memoryOf(service)).pssMib);
  }
  const shown = (values: readonly number[]) => values.map((mib) => mib.toFixed(1)).join(', ');
  t.comment(
    `figure: four rounds of ${SUBSCRIBERS}: ${shown(fed)} MiB fed (${shown(uncollected)} before a collection), ` +
      `${shown(left)} MiB when they had left`,
  );
  const growth = (values: readonly number[]) => (values[3] ?? Number.NaN) - (values[1] ?? Number.NaN);
  t.ok(growth(fed) * MIB <= 2e6, `${growth(fed).toFixed(2)} MiB more in round four than in round two`);
  t.ok(growth(left) * MIB <= 2e6, `${growth(left).toFixed(2)} MiB more after it`);
});
