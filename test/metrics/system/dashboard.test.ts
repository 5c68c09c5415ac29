/** packaging/grafana/hostwire.json: that each of its queries is answered. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { EventStream } from '../../helpers/clients/event-stream.ts';
import { PATIENCE_MS } from '../../helpers/limits.ts';
import { AMD_CARD, pci } from '../../helpers/machine/gpu-tree.ts';
import { makeMachine } from '../../helpers/machine/tree.ts';
import { startHere, startService } from '../../helpers/service/service.ts';
import { DASHBOARD, TARGETS } from '../grafana.ts';
import { MODEL } from '../model.ts';
import { checkFile, startPrometheus, whyNo } from '../programs.ts';

const JOB = 'hostwire';

/** A query as Grafana sends it, and one of a variable as the series that its values are labels of. */
const filled = (text: string, instance: string) =>
  text
    .replace(/^label_values\((.*), (\w+)\)$/, 'group by ($2) ($1)')
    .replaceAll('$__rate_interval', '10s')
    .replaceAll('$job', JOB)
    .replaceAll('$instance', instance);

/** This machine, with a subscriber and a client that has asked for players. */
async function startReal(t: Test): Promise<string> {
  const service = await startService({ config: { stats: { stream_interval_seconds: 1 } } });
  t.teardown(() => service.stop());
  const stream = await EventStream.open(service.port, '/api/stream');
  t.teardown(() => stream.close());
  await (await fetch(`${service.baseUrl}/api/media/status`)).arrayBuffer();
  return `127.0.0.1:${service.port}`;
}

/** A machine of files with what this one may lack: sensors, a battery, an adapter, a GPU. */
async function startModel(t: Test): Promise<string> {
  const machine = makeMachine(t, { ...MODEL, ...pci({ ...AMD_CARD, address: '0000:04:00.0' }) });
  const service = await startHere(machine.host);
  t.teardown(() => service.stop());
  return `127.0.0.1:${service.port}`;
}

interface Result {
  readonly result: readonly { readonly metric: Readonly<Record<string, string>> }[];
}

t.test(
  '[3.metrics-dashboard] promtool accepts each query, and a Prometheus that scrapes the service answers it',
  { skip: whyNo('prometheus') || whyNo('promtool') },
  async (t) => {
    const instances = [await startReal(t), await startModel(t)];
    const variables = DASHBOARD.templating.list.flatMap(({ query }) =>
      typeof query === 'string' ? [] : [{ title: 'variable', expr: query.query, legendFormat: '' }],
    );
    const queries = [...variables, ...TARGETS];
    const folder = mkdtempSync(path.join(tmpdir(), 'hostwire-dashboard-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const rules = queries.map(({ expr }, at) => ({ record: `query:${at}`, expr: filled(expr, 'pc') }));
    const file = path.join(folder, 'rules.yml');
    // JSON is YAML, too.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    await checkFile('rules', file);

    const ask = await startPrometheus(t, {
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [{ job_name: JOB, static_configs: [{ targets: instances }] }],
    });
    const answerOf = async (expr: string) => {
      const answers = await Promise.all(
        instances.map((at) => ask(`query?query=${encodeURIComponent(filled(expr, at))}`)),
      );
      // `undefined` where the query was refused.
      return answers.flatMap((answer) => (answer as Result | undefined)?.result ?? []);
    };
    let open = queries;
    for (const end = performance.now() + PATIENCE_MS; open.length > 0 && performance.now() < end; ) {
      await sleep(1000);
      const asked = await Promise.all(
        open.map(async (query) => ({ query, answer: await answerOf(query.expr) })),
      );
      for (const { query, answer } of asked)
        for (const [, label = ''] of query.legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          t.ok(
            answer.every(({ metric }) => label in metric),
            `${query.title}: ${label} is a label of ${query.expr}`,
          );
      open = asked.filter(({ answer }) => answer.length === 0).map(({ query }) => query);
    }
    t.strictSame(
      open.map(({ title, expr }) => `${title}: ${expr}`),
      [],
      `${queries.length} queries`,
    );
  },
);
