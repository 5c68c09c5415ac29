/** The operations of the OpenAPI document are those of the service; requests generated from it get documented answers. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openapiDocument } from '#src/api/openapi.js';
import { templateOf } from '#src/api/operations.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf, type RawAnswer, valuesOf } from '../helpers/clients/http.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere, serveProgram } from '../helpers/service/service.ts';
import { makeProgram } from './children.ts';
import { type GeneratedRequest, generateRequests } from './generated-requests.ts';
import { Openapi, type OpenapiOperation } from './openapi.ts';

const openapi = new Openapi(openapiDocument('0'));
const flags = Object.keys(DEFAULT_CONFIG.features);
const allFlags = (value: boolean) => Object.fromEntries(flags.map((flag) => [flag, value]));

const { program, startChild } = makeProgram(t, 'api');

const targetOf = (operation: OpenapiOperation, { path: parts, query }: GeneratedRequest) =>
  operation.path.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? '') + query;

/** For the one operation that needs a key; all others are open. */
const KEY = 'k'.repeat(40);

async function send(
  port: number,
  operation: OpenapiOperation,
  request: GeneratedRequest,
): Promise<RawAnswer> {
  const target = targetOf(operation, request);
  const { body } = request;
  const key = operation.id === 'listKeys' ? { Authorization: `Bearer ${KEY}` } : {};
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const parts = {
    method: operation.method,
    headers: { ...key, ...type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  if (operation.id !== 'openStream') return ask(port, target, parts);
  const stream = await EventStream.open(port, target);
  try {
    if (stream.head.status !== 200) return await ask(port, target, parts);
    return { ...stream.head, body: Buffer.from((await stream.next()).text) };
  } finally {
    stream.close();
  }
}

/** Statuses of the answers to valid requests, where there is neither an upgrade nor a player. */
const OTHER_THAN_200: Readonly<Record<string, number>> = {
  openSocket: 426,
  getMediaArt: 404,
  // No app and no machine is configured.
  launchProcess: 404,
  wake: 404,
  // No rule has such a name.
  muteEvents: 404,
};

/** Parameters that EventSource must never be refused for, and names that may exist on another machine. */
const LENIENT = new Set(['fields', 'detail', 'series']);

t.test('[2.documented] every request gets a documented answer', async (t) => {
  const auth = { enabled: false, api_key: KEY };
  const config = { auth, features: allFlags(true), history: { minutes: 60 } };
  const service = await serveProgram(t, { config });
  let asked = 0;
  const seen = new Map<string, Set<number>>();
  for (const operation of openapi.operations) {
    const statuses = new Set<number>();
    seen.set(operation.id, statuses);
    const isKill = operation.id === 'killProcess';
    const known = { pid: await startChild(), name: encodeURIComponent(path.basename(program)) };
    for (const generated of generateRequests(openapi, operation, known)) {
      // A process can be ended once.
      const isTarget = isKill && generated.wrong === undefined && generated.body !== null;
      const body = isTarget
        ? { ...Object(generated.body), ...(await freshTarget(generated.body)) }
        : generated.body;
      const request = { ...generated, body };
      const what = `${operation.method} ${operation.path} ${request.what}`;
      const answer = await send(service.port, operation, request);
      asked++;
      statuses.add(answer.status);
      openapi.checkAnswer(t, operation, what, answer);
      const { wrong } = request;
      if (wrong !== undefined && !LENIENT.has(wrong)) t.equal(answer.status, 400, what);
      if (wrong === 'fields') t.strictSame(valuesOf(answer, 'x-ignored-fields'), ['nonsense'], what);
      if (operation.id === 'openStream')
        t.equal(
          openapi.judge(messageOf(operation), JSON.parse(answer.body.toString().slice('data: '.length))),
          undefined,
          `${what}: a documented message`,
        );
    }
  }
  for (const [id, statuses] of seen)
    t.ok(statuses.has(OTHER_THAN_200[id] ?? 200), `${id}: ${[...statuses].sort().join(' ')}`);
  t.comment(`figure: ${asked} generated requests, ${seen.size} operations`);
});

/** Where the document describes what the lines of a stream hold. */
const messageOf = ({ path: at }: OpenapiOperation) =>
  `/paths/${at.replaceAll('/', '~1')}/get/responses/200/content/text~1event-stream/x-message`;

async function freshTarget(body: unknown): Promise<object> {
  const pid = await startChild();
  await sleep(30);
  return 'pid' in Object(body) ? { pid } : { name: path.basename(program) };
}

t.test('[2.documented] bodies that are not JSON objects', async (t) => {
  const service = await serveProgram(t, { config: { features: allFlags(true) } });
  for (const operation of openapi.operations.filter(({ method }) => method === 'POST')) {
    const target = operation.path;
    const post = (body: string, type = 'application/json') =>
      ask(service.port, target, { method: 'POST', body, headers: { 'Content-Type': type } });
    const isJson = operation.body !== undefined;
    for (const [body, type, status, code] of [
      ['{', 'application/json', 400, 'invalid_json'],
      ['', 'application/json', 400, 'invalid_json'],
      ['{}', 'text/plain', 415, 'unsupported_media_type'],
      [' '.repeat(16 * 1024 + 1), 'application/json', 413, 'payload_too_large'],
    ] as const) {
      const answer = await post(body, type);
      openapi.checkAnswer(t, operation, target, answer);
      t.equal(answer.status, isJson ? status : 200, `${target}: ${code}`);
      if (isJson) t.match(jsonOf(answer), { code });
    }
    const huge = await ask(service.port, target, {
      method: 'POST',
      headers: { 'Content-Length': String(2 ** 21) },
    });
    t.equal(huge.status, 413);
    openapi.checkAnswer(t, operation, target, huge);
  }
});

t.test('[2.documented] without a key, blocked, or switched off', async (t) => {
  const plain: GeneratedRequest = {
    what: '',
    path: { name: 'x' },
    query: '',
    body: undefined,
    wrong: undefined,
  };
  const api_key = 'k'.repeat(32);
  const cases = [
    {
      config: { auth: { enabled: true, api_key } },
      status: 401,
      isHit: ({ id }: OpenapiOperation) => id !== 'getStatus',
    },
    { config: { auth: { blocked_ips: ['127.0.0.1'] } }, status: 403, isHit: () => true },
    {
      config: { features: allFlags(false), history: { minutes: 60 } },
      status: 403,
      isHit: ({ feature }: OpenapiOperation) => feature !== undefined,
    },
  ];
  for (const { config, status, isHit } of cases) {
    const service = await serveProgram(t, { config });
    for (const operation of openapi.operations) {
      const name = `${operation.method} ${operation.path}`;
      const body = operation.body === undefined ? undefined : { action: 'play', name: 'x' };
      const answer = await send(service.port, operation, { ...plain, body });
      openapi.checkAnswer(t, operation, name, answer);
      t.equal(answer.status === status, isHit(operation), `${name}: ${answer.status}`);
      if ('features' in config && isHit(operation))
        t.strictSame(valuesOf(answer, 'x-error-code'), ['feature_disabled'], name);
    }
  }
});

const service = await serveHere(t, fixtureHost());
/** The routes of the API: everything below /api, and /metrics. The rest is the dashboard. */
const routes = service.routes.filter(({ path }) => path.startsWith('/api') || path === '/metrics');

t.test('[I.api-routes] every route and method has its operation, and the reverse', async (t) => {
  const served = routes.flatMap(({ path, methods }) =>
    Object.keys(methods).map((method) => `${method} ${templateOf(path)}`),
  );
  t.ok(served.length >= 18, `${served.length} operations`);
  t.strictSame([...openapi.names].sort(), served.sort());
});

t.test('[I.api-routes] flags and bodies are those of the routes', async (t) => {
  for (const operation of openapi.operations) {
    const { path, method, feature, body, responses } = operation;
    const endpoint = routes.find((route) => templateOf(route.path) === path)?.methods[method];
    const name = `${method} ${path}`;
    if (endpoint?.feature !== undefined) t.equal(feature, endpoint.feature, `${name}: its flag`);
    if (feature !== undefined) t.ok(feature in DEFAULT_CONFIG.features, `${name}: ${feature} is a flag`);
    t.equal(body !== undefined, endpoint?.body === 'json', `${name}: a body that is read as JSON`);
    t.equal('413' in responses, endpoint?.body !== undefined, `${name}: too large a body`);
    t.equal('415' in responses, endpoint?.body === 'json', `${name}: a body of another type`);
  }
});
