/** The OpenAPI document: valid by its standard, made from the schemas, and served as it was written. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { HUB_API, openapiDocument } from '#src/api/openapi.js';
import { STATUS_BY_CODE } from '#src/errors.js';
import { refusalCode } from '#src/wire/errors.js';
import { checkHeaders, JSON_HEADERS } from '../helpers/clients/answers.ts';
import { ask, jsonOf, valuesOf } from '../helpers/clients/http.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';
import { CALLS } from '../prove/openapi-calls.ts';
import { Openapi, type Part } from './openapi.ts';

const ROOT = new URL('../../../../', import.meta.url);
const read = (file: string) => readFileSync(fileURLToPath(new URL(file, ROOT)), 'utf8');
// This package's own version.
const { version } = JSON.parse(read('package.json')) as { readonly version: string };

const openapi = new Openapi(openapiDocument(version));

t.test('[I.api-documents] the OpenAPI document is sound by the schema of OpenAPI 3.1', async (t) => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(openapi.document));
  t.ok(valid, JSON.stringify(errors));
  t.equal(validator.version, '3.1');
  t.doesNotThrow(() => validator.resolveRefs(), 'every reference leads somewhere');
  const { valid: broken } = await new Validator().validate({ ...openapi.document, paths: [] });
  t.notOk(broken, 'a flaw is noticed');
});

t.test('[2.openapi-tools] the proof of generated clients calls each operation', async (t) => {
  t.strictSame(Object.keys(CALLS).sort(), openapi.operations.map(({ id }) => id).sort());
});

t.test('[I.api-documents] every error code is named, with its status', async (t) => {
  const named = new Map<string, Set<string>>();
  // The hub has a document of its own, and a code of its own.
  const hub = new Openapi(openapiDocument('0', HUB_API));
  for (const { responses } of [...openapi.operations, ...hub.operations])
    for (const [status, { description }] of Object.entries(responses))
      for (const [, code = ''] of String(description).matchAll(/`(\w+)`/g))
        named.set(code, (named.get(code) ?? new Set()).add(status));
  // These two are of no operation: a path or a method that is not in the document.
  const about = String((openapi.document['info'] as Part)['description']);
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
  const { title, description, version: shown } = openapi.document['info'] as Part;
  t.match(title, /alpha/);
  t.match(description, /\balpha\b.*experimental/s);
  t.equal(shown, version);
  for (const { path, tags, summary, isExperimental } of openapi.operations) {
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
  t.same(JSON.parse(written), openapi.document, 'built from these schemas');
  const answer = await ask(service.port, target);
  t.equal(answer.status, 200);
  t.equal(answer.body.toString(), written);
  t.same(jsonOf(answer), openapi.document);
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
