/** A service that is killed again and again while it sends: with `history.path` no event is lost, and none has two ids. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { hasSqlite } from '#src/history/store/sqlite.js';
import { createRandom } from '../helpers/random.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { startService } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { receive } from '../notify/receive.ts';

const KILLS = process.env['HOSTWIRE_FULL'] === '1' ? 100 : 20;
const seed = Date.now() % 100_000;
t.setTimeout(1_200_000);

t.test(`[12.notify-kills] ${KILLS} kills, seed ${seed}`, async (t) => {
  const random = createRandom(seed);
  const file = path.join(emptyFolder(t), 'history.db');
  let isReliable = false;
  const { received, url } = await receive(t, () => (isReliable || random.below(3) > 0 ? 200 : 503));
  // An event of its own in each run: its rule is gone in the next one.
  const start = async (name: string) => {
    const rule = { series: 'cpu.load', above: -1, for_seconds: 1 };
    const service = await startService({
      config: {
        history: { minutes: 60, path: file, idle_interval_seconds: 1 },
        watch: { defaults: false, rules: { [name]: rule } },
        notify: {
          targets: { hook: { type: 'webhook', url, min_severity: 'warning' } },
          batch_seconds: 0,
          max_per_hour: 10_000,
        },
      },
    });
    t.teardown(() => service.stop('SIGKILL'));
    return service;
  };
  const names = Array.from({ length: KILLS }, (_, kill) => `kill${kill}`);
  for (const name of names) {
    const service = await start(name);
    const isKept = () =>
      existsSync(`${file}.notify`) && readFileSync(`${file}.notify`, 'utf8').includes(`"${name} `);
    await until(isKept, `the event of ${name}`);
    await sleep(random.below(300));
    t.match(await service.stop('SIGKILL'), { signal: 'SIGKILL' });
  }
  isReliable = true;
  const last = await start('last');
  const idsOf = (name: string) =>
    received.flatMap(({ body, id }) => {
      const { status, alerts } = JSON.parse(body);
      return status === 'firing' && alerts[0].labels.alertname === name ? [id] : [];
    });
  await until(
    () => names.every((name) => idsOf(name).length > 0),
    () => `lost: ${names.filter((name) => idsOf(name).length === 0).join(', ')}`,
  );
  // A Node without SQLite keeps no history on disk, and does not know that it was killed.
  for (const name of [...names, ...(hasSqlite() ? ['machine_crashed'] : [])])
    t.equal(new Set(idsOf(name)).size, 1, `${name}: one message, however often it was tried`);
  t.match(await last.stop(), { code: 0 });
  t.comment(`figure: ${KILLS} kills, ${received.length} requests, 0 events lost, 0 with two ids`);
});
