/** The configurations of docs/metrics.md, as they stand there: only addresses, paths and the interval are replaced. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { load } from 'js-yaml';
import t, { type Test } from 'tap';
import { PATIENCE_MS } from '../../helpers/limits.ts';
import { startSecure } from '../../helpers/service/secure.ts';
import { startService } from '../../helpers/service/service.ts';
import { checkFile, startPrometheus, whyNo } from '../programs.ts';
import { blockWith } from '../recipe-blocks.ts';

const KEY = 'the-key-of-this-recipe';

interface Targets {
  readonly activeTargets: readonly { readonly health: string; readonly lastError: string }[];
}

/** Runs a Prometheus with it until its only target is up; returns what it says of that. */
async function scrapeWith(t: Test, text: string, target: string, cert = '') {
  const folder = mkdtempSync(path.join(tmpdir(), 'hostwire-recipe-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of [
    ['hostwire.key', KEY],
    ['hostwire.pem', cert],
  ] as const)
    writeFileSync(path.join(folder, name), content, { mode: 0o600 });
  const mine = text.replaceAll('/etc/prometheus', folder).replace('pc:9990', target);
  const file = path.join(folder, 'prometheus.yml');
  writeFileSync(file, mine);
  await checkFile('config', file);
  // An object, because it has the keys of the recipe.
  const config = load(mine.replace('15s', '1s')) as object;
  const ask = await startPrometheus(t, {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    ...config,
  });
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { activeTargets } = (await ask('targets')) as Targets;
    const isUp = activeTargets.length > 0 && activeTargets.every(({ health }) => health === 'up');
    if (isUp || performance.now() > deadline) return activeTargets;
    await sleep(200);
  }
}

const skip = whyNo('prometheus') || whyNo('promtool');

t.test('[3.metrics-recipes] Prometheus with the key in a file', { skip }, async (t) => {
  const service = await startService({ config: { auth: { enabled: true, api_key: KEY } } });
  t.teardown(() => service.stop());
  const text = blockWith('scrape_interval: 15s', 'credentials_file');
  t.match(await scrapeWith(t, text, `127.0.0.1:${service.port}`), [{ health: 'up', lastError: '' }]);
});

t.test('[3.metrics-recipes] Prometheus over HTTPS with a self-signed certificate', { skip }, async (t) => {
  const service = await startSecure(t, { auth: { enabled: true, api_key: KEY } });
  const target = `127.0.0.1:${service.securePort}`;
  const text = blockWith('scheme: https', 'ca_file');
  t.match(await scrapeWith(t, text, target, service.pair.cert), [{ health: 'up', lastError: '' }]);
});
