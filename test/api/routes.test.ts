/** The routes of the service and the OpenAPI document have the same operations. */
import t from 'tap';
import { openapiDocument } from '#src/api/openapi.js';
import { templateOf } from '#src/api/operations.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';
import { Openapi } from './openapi.ts';

const openapi = new Openapi(openapiDocument('0'));

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
