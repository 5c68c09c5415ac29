/** packaging/grafana/hostwire.json: that each of its queries is answered. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { EventStream } from '../../helpers/clients/event-stream.ts';
import { AMD_CARD, pci } from '../../helpers/machine/gpu-tree.ts';
import { makeMachine } from '../../helpers/machine/tree.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { serveHere, serveProgram } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { DASHBOARD, TARGETS } from '../grafana.ts';
import { MODEL } from '../model.ts';
import { checkFile, jobOf, startPrometheus, whyNo } from '../programs.ts';

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
  const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });
  await EventStream.openIn(t, service.port);
  await (await fetch(`${service.baseUrl}/api/media/status`)).arrayBuffer();
  return `127.0.0.1:${service.port}`;
}

/** A machine of files with what this one may lack: sensors, a battery, an adapter, a GPU. */
async function startModel(t: Test): Promise<string> {
  const machine = makeMachine(t, { ...MODEL, ...pci({ ...AMD_CARD, address: '0000:04:00.0' }) });
  const service = await serveHere(t, machine.host);
  return `127.0.0.1:${service.port}`;
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
    const rules = queries.map(({ expr }, at) => ({ record: `query:${at}`, expr: filled(expr, 'pc') }));
    const file = path.join(emptyFolder(t), 'rules.yml');
    // JSON is YAML, too.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    await checkFile('rules', file);

    const { query } = await startPrometheus(t, jobOf(instances));
    const answerOf = async (expr: string) =>
      (await Promise.all(instances.map((at) => query(filled(expr, at))))).flatMap((series) => series ?? []);
    let open = queries;
    await until(
      async () => {
        await sleep(1000);
        const asked = await Promise.all(open.map(async (row) => ({ row, answer: await answerOf(row.expr) })));
        for (const { row, answer } of asked)
          for (const [, label = ''] of row.legendFormat.matchAll(/\{\{(\w+)\}\}/g))
            t.ok(
              answer.every(({ metric }) => label in metric),
              `${row.title}: ${label} is a label of ${row.expr}`,
            );
        open = asked.filter(({ answer }) => answer.length === 0).map(({ row }) => row);
        return open.length === 0;
      },
      () => `no answer to ${open.map(({ title, expr }) => `${title}: ${expr}`).join('; ')}`,
    );
  },
);
