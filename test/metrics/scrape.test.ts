/** GET /metrics of a whole service: access, flag, headers, and the families of the service itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { ProcessHost } from '#src/host/processes.js';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { ask, type RawAnswer, valuesOf } from '../helpers/clients/http.ts';
import type { ConfigPart } from '../helpers/fakes/config-parts.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { processColumns } from '../helpers/fakes/process-columns.ts';
import { serveHere } from '../helpers/service/service.ts';
import { parseFamilies } from './families.ts';

const KEY = 'a-key-of-this-test';
const KEYED = { Authorization: `Bearer ${KEY}` };

async function start(t: Test, config: ConfigPart = {}) {
  return await serveHere(t, fixtureHost(), config);
}

const valueIn = (answer: RawAnswer, family: string, labels = '') =>
  parseFamilies(answer.body.toString()).get(family)?.samples.get(labels);

t.test('[3.metrics-form] text by default, OpenMetrics and gzip when they are asked for', async (t) => {
  const { port } = await start(t);
  const plain = await ask(port, '/metrics');
  t.equal(plain.status, 200);
  t.strictSame(valuesOf(plain, 'Content-Type'), ['text/plain; version=0.0.4; charset=utf-8']);
  t.strictSame(valuesOf(plain, 'Cache-Control'), ['no-store']);
  t.strictSame(valuesOf(plain, 'Vary'), ['Accept, Accept-Encoding']);
  t.strictSame(valuesOf(plain, 'Content-Encoding'), []);
  const open = await ask(port, '/metrics', {
    headers: { Accept: 'application/openmetrics-text;version=1.0.0', 'Accept-Encoding': 'gzip' },
  });
  t.match(valuesOf(open, 'Content-Type')[0], 'application/openmetrics-text; version=1.0.0');
  t.strictSame(valuesOf(open, 'Content-Encoding'), ['gzip']);
  const text = gunzipSync(open.body).toString();
  t.match(text, '# TYPE node_forks counter\nnode_forks_total 7\n');
  t.match(text, /# EOF\n$/);
  const head = await ask(port, '/metrics', { method: 'HEAD' });
  t.equal(head.status, 200);
  t.equal(head.body.length, 0);
  t.equal((await ask(port, '/metrics', { method: 'POST' })).status, 405);
});

t.test('[3.metrics-flag] features.enable_metrics', async (t) => {
  const service = await start(t, { features: { enable_metrics: false } });
  const refused = await ask(service.port, '/metrics');
  t.equal(refused.status, 403);
  t.strictSame(valuesOf(refused, 'X-Error-Code'), ['feature_disabled']);
  service.reconfigure({});
  t.equal((await ask(service.port, '/metrics')).status, 200);
});

t.test('[3.metrics-access] the rules are those of /api/usage', async (t) => {
  const { port } = await start(t, { auth: { enabled: true, api_key: KEY } });
  const foreign = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
  for (const [headers, status] of [
    [{}, 401],
    [{ Authorization: 'Bearer wrong' }, 401],
    [KEYED, 200],
    [{ ...KEYED, ...foreign }, 200],
  ] as const)
    for (const target of ['/metrics', '/api/usage'])
      t.equal((await ask(port, target, { headers })).status, status, `${target} ${JSON.stringify(headers)}`);
  const counted = await ask(port, '/metrics', { headers: KEYED });
  t.equal(valueIn(counted, 'hostwire_refused_requests_total', 'reason=unauthorized'), 4);
  t.equal(valueIn(counted, 'hostwire_refused_requests_total', 'reason=host_not_allowed'), 0);
  t.notMatch(counted.body.toString(), KEY);
  const open = await start(t);
  for (const target of ['/metrics', '/api/usage'])
    t.equal((await ask(open.port, target, { headers: foreign })).status, 403, `${target}: the web guard`);
});

t.test(
  '[3.metrics-processes] features.enable_processes: groups while it is on, no name while not',
  async (t) => {
    const lists = processColumns(10, [{ pid: 7, name: 'a "b"\nc', cpu: 500, memory: 4096 }]);
    const processes = { latest: () => null, ask: () => undefined, read: () => Promise.resolve(lists) };
    // Only these of its methods are called.
    const host = { ...fixtureHost(), processes: processes as unknown as ProcessHost };
    const key = { auth: { enabled: true, api_key: KEY } };
    const service = await serveHere(t, host, key);
    const scrape = (headers: Readonly<Record<string, string>>) => ask(service.port, '/metrics', { headers });
    /** Not the reading that is there. */
    const scrapeAgain = async () => {
      await sleep(1100);
      return await scrape(KEYED);
    };
    const group = 'group=a \\"b\\"\\nc';
    const first = await scrape(KEYED);
    t.equal(valueIn(first, 'hostwire_process_group_cpu_seconds_total', group), 5);
    t.equal(valueIn(first, 'hostwire_process_group_resident_memory_bytes', group), 4096);
    t.notMatch((await scrape({ Authorization: 'Bearer wrong' })).body.toString(), 'group');
    service.reconfigure({ ...key, features: { enable_processes: false } });
    t.notMatch((await scrapeAgain()).body.toString(), /hostwire_process/);
    service.reconfigure(key);
    t.equal(valueIn(await scrapeAgain(), 'hostwire_processes'), 1);
  },
);

t.test('[3.metrics-own] subscribers, events and ticks are counted', async (t) => {
  const { port } = await start(t, { stats: { stream_interval_seconds: 1 } });
  const stream = await EventStream.open(port, '/api/stream');
  for (let events = 0; events < 3; events++) await stream.next();
  const families = parseFamilies((await ask(port, '/metrics')).body.toString());
  stream.close();
  const value = (name: string, labels = '') => families.get(`hostwire_${name}`)?.samples.get(labels);
  t.equal(value('subscribers', 'kind=stream'), 1);
  t.equal(value('subscribers', 'kind=socket'), 0);
  t.ok((value('events_sent_total', 'kind=stream') ?? 0) >= 3);
  t.equal(value('events_skipped_total'), 0);
  t.ok((value('ticks_total') ?? 0) >= 2);
  t.ok((value('tick_lateness_seconds_total') ?? -1) >= 0);
  t.ok((value('connections') ?? 0) >= 2);
  t.equal(value('log_lines_left_out_total'), 0);
  t.match([...(families.get('hostwire_build_info')?.samples.keys() ?? [])][0], 'version=0.0.0-test');
});
