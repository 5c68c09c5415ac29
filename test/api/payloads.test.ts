/** The OpenAPI document is valid by its standard, and every payload is what its schema describes: no key more, none less. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { HUB_API, openapiDocument } from '#src/api/openapi.js';
import { COMPONENTS } from '#src/api/schemas.js';
import { STATUS_BY_CODE } from '#src/errors.js';
import { refusalCode } from '#src/wire/errors.js';
import { checkHeaders, JSON_HEADERS } from '../helpers/clients/answers.ts';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf, valuesOf } from '../helpers/clients/http.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { serveHere, serveProgram } from '../helpers/service/service.ts';
import { CALLS } from '../prove/openapi-calls.ts';
import { checkMachine, type Name, openapi, TARGETS } from './machine-payloads.ts';
import { Openapi, type Part } from './openapi.ts';

/** Copies of `value`, each with one key more in one of its objects. */
function* withKeysMore(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    // One of them stands for all.
    for (const changed of withKeysMore(value[0])) yield [changed, ...value.slice(1)];
    return;
  }
  yield { ...value, unheard_of: 1 };
  for (const [key, part] of Object.entries(value))
    for (const changed of withKeysMore(part)) yield { ...value, [key]: changed };
}

function checkPayload(t: Test, name: Name, value: unknown, what: string): void {
  t.equal(openapi.judgeNamed(name, value), undefined, `${what} is a ${name}`);
  t.ok(v.is(COMPONENTS[name], value), `${what} is one for valibot too`);
  for (const changed of withKeysMore(value))
    if (openapi.judgeNamed(name, changed) === undefined) t.fail(`${what}: ${JSON.stringify(changed)} passes`);
}

async function checkEverything(t: Test, port: number, what: string): Promise<void> {
  for (const [target, name] of TARGETS) {
    const answer = await ask(port, target);
    t.equal(answer.status, 200);
    checkPayload(t, name, jsonOf(answer), `${what}: ${target}`);
  }
  for (const [target, name] of [
    ['/api/stream', 'Usage'],
    ['/api/stream?detail=1', 'UsageDetail'],
  ] as const) {
    const stream = await EventStream.open(port, target);
    checkPayload(t, name, payloadOf(await stream.next()), `${what}: ${target}`);
    stream.close();
  }
}

t.test('[3.schemas] this machine, through the program', async (t) => {
  const service = await serveProgram(t, { config: { features: { enable_process_control: true } } });
  await checkEverything(t, service.port, 'this machine');
  const { pid } = process;
  for (const [target, name] of [
    ['/api/processes', 'ProcessList'],
    ['/api/processes?grouped=0&limit=20', 'ProcessList'],
    [`/api/processes/${pid}`, 'ProcessDetails'],
  ] as const)
    checkPayload(t, name, jsonOf(await ask(service.port, target)), target);
  // Again: by now shares of the processor are known.
  checkPayload(t, 'UsageDetail', jsonOf(await ask(service.port, '/api/usage?detail=1')), 'the second time');
  const post = (target: string) => ask(service.port, target, { method: 'POST' });
  checkPayload(t, 'PowerResult', jsonOf(await post('/api/pw/sleep?delay=60')), 'an action');
  checkPayload(t, 'Power', jsonOf(await ask(service.port, '/api/pw')), 'something pending');
  checkPayload(t, 'PowerResult', jsonOf(await post('/api/pw/cancel')), 'cancel');
});

t.test('[3.schemas] a machine that has everything, and a player that plays', async (t) => {
  const folder = emptyFolder(t, 'art');
  const picture = path.join(folder, 'cover');
  writeFileSync(picture, Buffer.from('R0lGODlhAQABAAAAACw=', 'base64'));
  const artUrl = pathToFileURL(picture).href;
  const media = new FakeMediaHost();
  media.snapshot = snapshotOf(
    playerOf('mpv', { title: 'Größe', artists: ['Ärzte'], playback: 'playing', volume: 1.5, artUrl }),
    playerOf('vlc', { playback: 'paused' }),
  );
  const service = await serveHere(t, { ...fixtureHost(), media });
  await checkEverything(t, service.port, 'fixture');
  for (const operation of openapi.operations.filter(({ tags }) => tags.includes('media'))) {
    const { method, path: target } = operation;
    const body = { action: 'set_volume', value: 50, player: 'vlc' };
    const answer = await ask(service.port, target, {
      method,
      ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
    });
    t.equal(answer.status, 200, target);
    openapi.checkAnswer(t, operation, target, answer);
  }
});

/** The machines that differ most in their parts and in the values that cannot be read. */
const MACHINES = [
  'broken-sensors',
  'laptop-two-batteries',
  'no-swap-minimal',
  'odd-mounts',
  'raspberry',
  'wsl',
];

t.test('[3.schemas] machines that were captured', async (t) => {
  for (const name of MACHINES) await checkMachine(t, name);
});

const ROOT = new URL('../../../../', import.meta.url);
const read = (file: string) => readFileSync(fileURLToPath(new URL(file, ROOT)), 'utf8');
// This package's own version.
const { version } = JSON.parse(read('package.json')) as { readonly version: string };
const served = new Openapi(openapiDocument(version));

t.test('[I.api-documents] the OpenAPI document is sound by the schema of OpenAPI 3.1', async (t) => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(served.document));
  t.ok(valid, JSON.stringify(errors));
  t.equal(validator.version, '3.1');
  t.doesNotThrow(() => validator.resolveRefs(), 'every reference leads somewhere');
  const { valid: broken } = await new Validator().validate({ ...served.document, paths: [] });
  t.notOk(broken, 'a flaw is noticed');
});

t.test('[2.openapi-tools] the proof of generated clients calls each operation', async (t) => {
  t.strictSame(Object.keys(CALLS).sort(), served.operations.map(({ id }) => id).sort());
});

t.test('[I.api-documents] every error code is named, with its status', async (t) => {
  const named = new Map<string, Set<string>>();
  // The hub has a document of its own, and a code of its own.
  const hub = new Openapi(openapiDocument('0', HUB_API));
  for (const { responses } of [...served.operations, ...hub.operations])
    for (const [status, { description }] of Object.entries(responses))
      for (const [, code = ''] of String(description).matchAll(/`(\w+)`/g))
        named.set(code, (named.get(code) ?? new Set()).add(status));
  // These two are of no operation: a path or a method that is not in the document.
  const about = String((served.document['info'] as Part)['description']);
  for (const [code, status] of Object.entries(STATUS_BY_CODE)) {
    if (code === 'not_found' || code === 'method_not_allowed') t.match(about, `${status} \`${code}\``);
    // A 403 has no body: its code is in a header.
    else if (status === 403)
      t.ok(
        refusalCode.options.some((name) => name === code),
        code,
      );
    else t.strictSame([...(named.get(code) ?? [])], [String(status)], code);
  }
});

t.test('[I.alpha] [9.labels] alpha and experimental stand where people look', async (t) => {
  t.match(version, /^0\.\d+\.\d+-alpha/, 'version 0.x');
  const { title, description, version: shown } = served.document['info'] as Part;
  t.match(title, /alpha/);
  t.match(description, /\balpha\b.*experimental/s);
  t.equal(shown, version);
  for (const { path, tags, summary, isExperimental } of served.operations) {
    t.equal(isExperimental, path.startsWith('/api/media/'), `${path} is labelled`);
    t.equal(summary.endsWith('(experimental)'), isExperimental);
    t.equal(tags.includes('media'), isExperimental);
  }
  for (const file of ['README.md', 'CHANGELOG.md', 'docs/api.md']) {
    const text = read(file);
    t.match(text.split('\n').slice(0, 8).join('\n'), /\balpha\b/i, `${file} says alpha at its beginning`);
    const ofMedia = text.split('\n').filter((line) => /\bmedia\b/i.test(line));
    t.ok(
      ofMedia.some((line) => /experimental/i.test(line)),
      `${file} says experimental of media`,
    );
  }
});

t.test('[I.api-served] the document is served as it was written, with an ETag', async (t) => {
  const service = await serveHere(t, fixtureHost());
  const target = '/api/openapi.json';
  const written = read('dist/api/openapi.json');
  t.same(JSON.parse(written), served.document, 'built from these schemas');
  const answer = await ask(service.port, target);
  t.equal(answer.status, 200);
  t.equal(answer.body.toString(), written);
  t.same(jsonOf(answer), served.document);
  const [tag = ''] = valuesOf(answer, 'etag');
  t.match(tag, /^"[0-9a-f]{16}"$/);
  const described = {
    ...JSON_HEADERS,
    'cache-control': 'no-cache',
    etag: tag,
  };
  checkHeaders(t, answer, described);
  const head = await ask(service.port, target, { method: 'HEAD' });
  checkHeaders(t, head, described);
  t.strictSame(valuesOf(head, 'content-length'), [String(answer.body.length)]);
  for (const [known, status] of [
    [tag, 304],
    [`"x", W/${tag}`, 304],
    ['*', 304],
    ['"x"', 200],
    [tag.slice(0, -1), 200],
  ] as const) {
    const again = await fetch(`${service.baseUrl}${target}`, { headers: { 'If-None-Match': known } });
    t.equal(again.status, status, known);
    t.equal(again.headers.get('etag'), tag);
    t.equal((await again.arrayBuffer()).byteLength, status === 304 ? 0 : answer.body.length);
  }
});

t.test('[I.api-served] it is subject to the same access rules as everything else', async (t) => {
  const api_key = 'k'.repeat(32);
  const service = await serveHere(t, fixtureHost(), { auth: { enabled: true, api_key } });
  const target = '/api/openapi.json';
  t.equal((await ask(service.port, target)).status, 401);
  const headers = { Authorization: `Bearer ${api_key}` };
  t.equal((await ask(service.port, target, { headers })).status, 200);
  t.equal((await ask(service.port, target, { method: 'POST', headers })).status, 405);
});
