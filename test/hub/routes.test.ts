/** The hub's routes, its OpenAPI document and its answers agree; its figures, its limits and its end. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { HUB_API, openapiDocument } from '#src/api/openapi.js';
import { templateOf } from '#src/api/operations.js';
import { Openapi } from '../api/openapi.ts';
import { payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf, valuesOf } from '../helpers/clients/http.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { isUp, startHub } from './setup.ts';

const document = openapiDocument('0', HUB_API);
const openapi = new Openapi(document);
const service = await serveHere(t, fixtureHost(), { stats: { stream_interval_seconds: 1 } });
const AGENTS = { a: { url: service.baseUrl, labels: { site: 'x' } }, gone: { url: 'http://127.0.0.1:1' } };
const KEY = 'k'.repeat(32);
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
t.test('[I.hub.document] every route has its operation, and the reverse', async (t) => {
  const hub = await startHub(t, AGENTS);
  const served = hub.routes.flatMap(({ path, methods }) =>
    Object.keys(methods).map((method) => `${method} ${templateOf(path)}`),
  );
  t.strictSame([...openapi.names].sort(), served.sort());
  const answer = await ask(hub.port, '/api/openapi.json');
  const built = new URL('../../../../dist/api/hub-openapi.json', import.meta.url);
  t.strictSame(jsonOf(answer), JSON.parse(readFileSync(built, 'utf8')));
  const tag = valuesOf(answer, 'etag')[0] ?? '';
  const same = await ask(hub.port, '/api/openapi.json', {
    method: 'HEAD',
    headers: { 'If-None-Match': tag },
  });
  t.equal(same.status, 304);
});

t.test('[I.hub.document] answers are what the document says', async (t) => {
  const hub = await startHub(t, AGENTS);
  await hub.host('a', isUp);
  await hub.host('gone', ({ reason }) => reason === 'connection refused');
  const schemaOf = (template: string, type: string, key: string) =>
    `/paths/${template.replaceAll('/', '~1')}/get/responses/200/content/${type.replace('/', '~1')}/${key}`;
  for (const [target, template] of [
    ['/api/hosts', '/api/hosts'],
    ['/api/hosts/a/usage?detail=1', '/api/hosts/{id}/usage'],
    ['/api/hosts/a/system', '/api/hosts/{id}/system'],
    ['/api/status', '/api/status'],
  ] as const) {
    const answer = await ask(hub.port, target);
    t.equal(
      openapi.judge(schemaOf(template, 'application/json', 'schema'), jsonOf(answer)),
      undefined,
      target,
    );
  }
  for (const [target, template] of [
    ['/api/hosts/a/stream?detail=1', '/api/hosts/{id}/stream'],
    ['/api/fleet/stream', '/api/fleet/stream'],
  ] as const) {
    const stream = await hub.open(target);
    const where = schemaOf(template, 'text/event-stream', 'x-message');
    for (let events = 0; events < 2; events++)
      t.equal(openapi.judge(where, payloadOf(await stream.next())), undefined, target);
  }
  for (const path of ['/api/hosts/a/stream', '/api/fleet/stream']) {
    const head = await ask(hub.port, path, { method: 'HEAD' });
    t.equal(head.status, 200);
    t.match(valuesOf(head, 'content-type')[0], 'text/event-stream');
  }
});

t.test('[I.hub.metrics] the figures of the hub', async (t) => {
  const hub = await startHub(t, AGENTS);
  await hub.host('a', isUp);
  await hub.host('gone', ({ reason }) => reason === 'connection refused');
  const stream = await hub.open('/api/hosts/a/stream');
  await stream.next();
  await stream.next();
  // The native writer counts an event when it has sent it, which may be after its viewer has it.
  const text = await until(async () => {
    const body = String((await ask(hub.port, '/metrics')).body);
    return /^hostwire_hub_viewer_events_total (?:[2-9]|\d\d+)$/m.test(body) ? body : undefined;
  });
  const figure = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  t.equal(figure('hostwire_hub_hosts\\{state="up"\\}'), 1);
  t.equal(figure('hostwire_hub_hosts\\{state="unknown"\\}'), 1);
  t.equal(figure('hostwire_hub_hosts\\{state="refused"\\}'), 0);
  t.equal(figure('hostwire_hub_viewers'), 1);
  t.equal(figure('hostwire_streams\\{sender="engine"\\}'), 0, 'the native writer sends it');
  t.ok(figure('hostwire_hub_samples_total') >= 2);
  const sent = figure('hostwire_hub_viewer_events_total');
  stream.close();
  await until(async () => {
    const later = String((await ask(hub.port, '/metrics')).body);
    return later.includes('hostwire_hub_viewers 0\n') ? later : undefined;
  });
  const after = String((await ask(hub.port, '/metrics')).body);
  t.ok(Number(/^hostwire_hub_viewer_events_total (\d+)$/m.exec(after)?.[1]) >= sent, 'counters only grow');
  const off = await startHub(t, {}, { features: { enable_metrics: false } });
  const refused = await ask(off.port, '/metrics');
  t.equal(refused.status, 403);
  t.strictSame(valuesOf(refused, 'x-error-code'), ['feature_disabled']);
});

t.test('[I.hub.limits] streams of one address are limited; the key is not', async (t) => {
  const config = { server: { max_streams_per_address: 2 }, auth: { api_key: KEY } };
  const hub = await startHub(t, AGENTS, config);
  await hub.host('a', isUp);
  await hub.open('/api/hosts/a/stream');
  await hub.open('/api/fleet/stream');
  const third = await ask(hub.port, '/api/hosts/a/stream');
  t.equal(third.status, 503);
  t.match(jsonOf(third), { code: 'too_many_streams' });
  const keyed = await hub.open('/api/hosts/a/stream', bearer(KEY));
  t.equal(keyed.head.status, 200);
});

t.test('[I.hub.end] it ends with its streams', async (t) => {
  const hub = await startHub(t, AGENTS);
  await hub.host('a', isUp);
  const streams = await Promise.all([hub.open('/api/hosts/a/stream'), hub.open('/api/fleet/stream')]);
  await hub.stop();
  for (const stream of streams) {
    await stream.ended();
    t.ok(stream.isEnded, 'on a frame boundary');
  }
});
