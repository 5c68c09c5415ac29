/** The configurations of docs/metrics.md, as they stand there: only addresses, paths and the interval are replaced. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { load } from 'js-yaml';
import t, { type Test } from 'tap';
import { emptyFolder } from '../../helpers/scope.ts';
import { startSecure } from '../../helpers/service/secure.ts';
import { serveProgram } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { checkFile, startPrometheus, whyNo } from '../programs.ts';

const KEY = 'the-key-of-this-recipe';

const PAGE = readFileSync(path.resolve(import.meta.dirname, '../../../../../docs/metrics.md'), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);

/** The one block that has all of these words. */
function blockWith(...words: readonly string[]): string {
  const found = BLOCKS.filter((text) => words.every((word) => text.includes(word)));
  if (found.length !== 1) throw new Error(`${found.length} blocks have ${words.join(', ')}`);
  return found[0] ?? '';
}

/** Runs a Prometheus with it until its only target is up; returns what it says of that. */
async function scrapeWith(t: Test, text: string, target: string, cert = '') {
  const folder = emptyFolder(t, 'recipe');
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
  const { targets } = await startPrometheus(t, config);
  return await until(async () => {
    const found = await targets();
    return found.length > 0 && found.every(({ health }) => health === 'up') && found;
  });
}

const skip = whyNo('prometheus') || whyNo('promtool');

t.test('[3.metrics-recipes] Prometheus with the key in a file', { skip }, async (t) => {
  const service = await serveProgram(t, { config: { auth: { enabled: true, api_key: KEY } } });
  const text = blockWith('scrape_interval: 15s', 'credentials_file');
  t.match(await scrapeWith(t, text, `127.0.0.1:${service.port}`), [{ health: 'up', lastError: '' }]);
});

t.test('[3.metrics-recipes] Prometheus over HTTPS with a self-signed certificate', { skip }, async (t) => {
  const service = await startSecure(t, { auth: { enabled: true, api_key: KEY } });
  const target = `127.0.0.1:${service.securePort}`;
  const text = blockWith('scheme: https', 'ca_file');
  t.match(await scrapeWith(t, text, target, service.pair.cert), [{ health: 'up', lastError: '' }]);
});
