/** Two minutes of a running Prometheus: each scrape succeeds, no counter falls, no series comes and goes. */
import { spawn } from 'node:child_process';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { serveProgram } from '../../helpers/service/service.ts';
import { jobOf, startPrometheus, whyNo } from '../programs.ts';

const SECONDS = 120;
/** Tests beside this one make and remove interfaces, mounts and drives. */
const STEADY =
  '{job="hostwire",__name__=~"hostwire_.*|node_.*",__name__!~"node_(network|filesystem|disk)_.*"}';
/** A program that works for half a second and ends. */
const WORK = 'const end = Date.now() + 500; while (Date.now() < end);';

/** Ranges lose the names of metrics, and would have several series with the same labels. */
const named = (selector: string) => `label_replace(${selector}, "metric", "$1", "__name__", "(.+)")`;

t.setTimeout(300_000);
t.test('[3.metrics-steady] Prometheus for two minutes', { skip: whyNo('prometheus') }, async (t) => {
  const service = await serveProgram(t);
  const { query } = await startPrometheus(t, jobOf([new URL(service.baseUrl).host]));
  const seriesOf = async (text: string) => (await query(text)) ?? [];
  for (let second = 0; second < SECONDS; second += 2) {
    // Processes that end, which their group's counter must survive.
    spawn(process.execPath, ['-e', WORK], { stdio: 'ignore' });
    await sleep(2000);
  }
  const [up] = await seriesOf('avg_over_time(up[110s])');
  t.equal(up?.value[1], '1', 'each scrape succeeded');
  const counters = `{job="hostwire",__name__=~".*_total"}`;
  t.ok((await seriesOf(counters)).length > 100, 'there are counters');
  t.strictSame(
    (await seriesOf(`resets(${named(counters)}[110s:1s]) > 0`)).map(({ metric }) => metric),
    [],
    'no counter fell',
  );
  // All series that were there 100 s ago: one that was absent in between has fewer samples.
  const gaps = await seriesOf(
    `count_over_time(${named(STEADY)}[100s:1s]) < 99 and count_over_time(${named(STEADY)}[10s:1s] offset 100s) > 0`,
  );
  t.strictSame(
    gaps.map(({ metric, value }) => `${JSON.stringify(metric)} ${value[1]}`),
    [],
    'no series has gaps',
  );
  const groups = await seriesOf('count(hostwire_process_group_processes)');
  t.ok(Number(groups[0]?.value[1]) <= 32, `${groups[0]?.value[1]} groups`);
});
