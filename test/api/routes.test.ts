/** The route tables, the OpenAPI document and docs/api.md have the same operations. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { openapiDocument } from '#src/api/openapi.js';
import { templateOf } from '#src/api/operations.js';
import { DEFAULT_CONFIG } from '#src/config/schema.js';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { startHere } from '../helpers/service/service.ts';
import { Openapi } from './openapi.ts';

const openapi = new Openapi(openapiDocument('0'));
const page = readFileSync(fileURLToPath(new URL('../../../../docs/api.md', import.meta.url)), 'utf8');

const service = await startHere(fixtureHost());
t.teardown(() => service.stop());
/** What is below /api is the API; the rest is the dashboard. */
const routes = service.routes.filter(({ path }) => path.startsWith('/api'));

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

t.test('[I.api-page] docs/api.md has every operation with a request to try, and no other', async (t) => {
  const sections = page.split(/^### /m).slice(1);
  const headings = sections.map((section) => section.split('\n', 1)[0]?.replaceAll('`', '') ?? '');
  t.strictSame([...headings].sort(), [...openapi.names].sort());
  for (const [i, section] of sections.entries())
    t.match(section, /```sh\ncurl /, `${headings[i]} has a curl`);
  for (const { path, method, parameters, feature, isExperimental } of openapi.operations) {
    const section = sections[headings.indexOf(`${method} ${path}`)] ?? '';
    for (const { name } of parameters)
      t.match(section, new RegExp(`\`${name}[=\`]`), `${path} names ${name}`);
    if (feature !== undefined) t.match(section, `features.${feature}`, `${path} names its flag`);
    t.equal(/experimental/i.test(section), isExperimental, `${path}: experimental`);
  }
});
