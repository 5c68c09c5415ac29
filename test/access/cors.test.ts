/** CORS: the origins that may read an answer, and the answers to preflights. */
import t from 'tap';
import { corsHeaders } from '#src/access/origins.js';
import { BEARER, decide, guarded, type HeaderTable, KEY, type Settings, verdict } from './setup.ts';

const LISTED = 'https://dash.example.org';
const OTHER = 'https://other.example.com';
const OPEN: Settings = { auth: { api_key: KEY }, server: { cors_origins: [LISTED] } };
const CLOSED = guarded({}, { cors_origins: [LISTED] });

const granted = (origin: string) => [
  ['Access-Control-Allow-Origin', origin],
  ['Vary', 'Origin'],
  ['Access-Control-Allow-Methods', 'GET, HEAD, POST'],
  ['Access-Control-Allow-Headers', 'authorization, content-type, last-event-id'],
  ['Access-Control-Max-Age', '600'],
];

function preflight(settings: Settings, headers: HeaderTable) {
  const decision = decide(settings, {
    method: 'OPTIONS',
    headers: { 'access-control-request-method': 'GET', ...headers },
  });
  return { isPreflight: decision.isPreflight, headers: corsHeaders(decision) };
}

t.test('1.cors-preflight-listed a listed origin is always permitted', async (t) => {
  for (const settings of [OPEN, CLOSED, guarded({ allowed_ips: ['10.0.0.1'] }, { cors_origins: [LISTED] })]) {
    t.same(preflight(settings, { origin: LISTED }), { isPreflight: true, headers: granted(LISTED) });
    const wanted = { origin: LISTED, 'access-control-request-headers': 'content-type' };
    t.same(preflight(settings, wanted), { isPreflight: true, headers: granted(LISTED) });
  }
  t.equal(
    decide(OPEN, { method: 'OPTIONS', headers: { origin: LISTED, 'access-control-request-method': '' } })
      .client,
    '192.168.7.20',
  );
});

t.test('1.cors-preflight-key any origin that will send the key is permitted', async (t) => {
  for (const origin of [OTHER, 'null', 'chrome-extension://abcdef', 'http://[::1]:3000']) {
    for (const wanted of [
      'authorization',
      'Authorization',
      'content-type, AUTHORIZATION',
      'a,authorization,b',
      ['a', 'authorization'],
    ]) {
      const headers = { origin, 'access-control-request-headers': wanted };
      t.same(
        preflight(CLOSED, headers),
        { isPreflight: true, headers: granted(origin) },
        `${origin} ${wanted}`,
      );
    }
  }
});

t.test('1.cors-preflight-other no other origin is permitted', async (t) => {
  const refused = { isPreflight: true, headers: [['Vary', 'Origin']] };
  for (const wanted of [
    [],
    '',
    'content-type',
    'x-authorization',
    'authorization-x',
    'authori zation',
    'content-type;authorization',
  ]) {
    t.same(
      preflight(OPEN, { origin: OTHER, 'access-control-request-headers': wanted }),
      refused,
      JSON.stringify(wanted),
    );
  }
  for (const origin of [
    '',
    'a b',
    'http://a.com/',
    'http://a.com, http://b.com',
    'http://u@a.com',
    '*',
    '"',
  ]) {
    t.same(preflight(OPEN, { origin, 'access-control-request-headers': 'authorization' }), refused, origin);
  }
});

t.test('1.cors-preflight a request that is not a preflight goes through all checks', async (t) => {
  const method = 'OPTIONS';
  const asks = { 'access-control-request-method': 'POST' };
  t.equal(verdict(CLOSED, { method }), '401');
  t.equal(verdict(CLOSED, { method, headers: { origin: LISTED } }), '401');
  t.equal(verdict(CLOSED, { method, headers: asks }), '401');
  t.equal(verdict(CLOSED, { method, headers: { ...asks, origin: [LISTED, LISTED] } }), '401');
  t.equal(verdict(CLOSED, { method: 'GET', headers: { ...asks, origin: LISTED } }), '401');
  t.equal(verdict(CLOSED, { method, headers: BEARER }), 'keyed');
  t.equal(verdict(OPEN, { method }), 'keyless');
  t.equal(verdict(OPEN, { method, headers: { host: 'evil.com' } }), '403 host_not_allowed');
  const foreign = { ...asks, origin: OTHER, host: 'evil.com' };
  t.equal(verdict(OPEN, { method, headers: foreign }), 'preflight', 'a preflight is public');
  t.equal(
    verdict(CLOSED, { method, path: '/api/status', headers: { ...asks, origin: LISTED } }),
    'preflight',
  );
});

function readers(settings: Settings, headers: HeaderTable, path = '/api/usage') {
  return corsHeaders(decide(settings, { path, headers }));
}

const readableBy = (origin: string) => [
  ['Access-Control-Allow-Origin', origin],
  ['Vary', 'Origin'],
  ['Access-Control-Expose-Headers', 'X-Ignored-Fields, X-Error-Code, X-Media-Delivered, Retry-After'],
];

t.test('1.cors-answer-keyed any page with the key may read', async (t) => {
  for (const origin of [
    OTHER,
    LISTED,
    'null',
    'moz-extension://0a1b-2c',
    'http://localhost:9990',
    'HTTP://A.B:1',
  ]) {
    t.same(readers(CLOSED, { ...BEARER, origin }), readableBy(origin), origin);
    t.same(readers(OPEN, { ...BEARER, origin }), readableBy(origin), 'with auth off too');
    t.same(readers(CLOSED, { ...BEARER, origin }, '/api/status'), readableBy(origin), 'public paths too');
  }
  for (const origin of [
    [],
    '',
    '*',
    'a b',
    'http://a.com/',
    'x',
    'http://a.com,http://b.com',
    'nullx',
    'xnull',
    [OTHER, OTHER],
  ]) {
    t.same(readers(CLOSED, { ...BEARER, origin }), [], `nothing to echo: ${JSON.stringify(origin)}`);
  }
});

t.test('1.cors-answer-listed a listed page may read every answer, including a refusal', async (t) => {
  t.same(readers(OPEN, { origin: LISTED }), readableBy(LISTED));
  t.same(
    readers(OPEN, { origin: 'HTTPS://DASH.example.org:443' }),
    readableBy('HTTPS://DASH.example.org:443'),
  );
  t.same(readers(CLOSED, { origin: LISTED }), readableBy(LISTED), 'a 401');
  t.same(readers(CLOSED, { origin: LISTED }, '/api/status'), readableBy(LISTED));
  t.same(readers(OPEN, { origin: LISTED, host: 'evil.com' }), readableBy(LISTED), 'a 403 of the web guard');
  t.same(
    readers(guarded({ blocked_ips: ['0.0.0.0/0'] }, { cors_origins: [LISTED] }), { origin: LISTED }),
    readableBy(LISTED),
  );
});

t.test('1.cors-answer-other a keyless foreign page reads nothing', async (t) => {
  for (const origin of [OTHER, 'null', `${LISTED}.evil.com`, 'http://localhost:9990', [LISTED, LISTED]]) {
    t.same(readers(OPEN, { origin }), [], JSON.stringify(origin));
    t.same(readers(CLOSED, { origin }), [], JSON.stringify(origin));
    t.same(readers(OPEN, { origin }, '/api/status'), []);
    t.same(readers(CLOSED, { origin, authorization: 'Bearer wrong' }), []);
  }
  const elsewhere = guarded({ allowed_ips: ['10.0.0.1'] });
  t.same(
    readers(elsewhere, { ...BEARER, origin: OTHER }),
    [],
    'refused by its address: the key changes nothing',
  );
  t.same(readers(OPEN, {}), []);
});

t.test('1.cors-never a star or credentials', async (t) => {
  const everything = [
    ...preflight(OPEN, { origin: LISTED }).headers,
    ...readers(OPEN, { origin: LISTED }),
    ...readers(CLOSED, { ...BEARER, origin: OTHER }),
  ];
  t.notOk(
    everything.some(([name, value]) => value.includes('*') || name.toLowerCase().includes('credentials')),
  );
});
