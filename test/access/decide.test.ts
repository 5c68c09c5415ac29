/** Steps 0 to 3: blocked addresses, public paths, the allow list, the key, and the client's address. */
import t from 'tap';
import { compileAccess } from '#src/access/decide.js';
import { ACCESS_HEADERS, FORWARDING_HEADERS } from '#src/access/request.js';
import {
  BEARER,
  configOf,
  decide,
  guarded,
  KEY,
  MACHINE_NAMES,
  type RequestChange,
  type Settings,
  verdict,
  WITH_KEY,
} from './setup.ts';

const PEER = '192.168.7.20';

t.test('1.step0-unknown-peer an unknown peer address: 403', async (t) => {
  for (const remoteAddress of [undefined, '', 'garbage', '%eth0']) {
    for (const path of ['/api/status', '/', '/api/usage']) {
      const decision = decide({}, { remoteAddress, path, headers: BEARER });
      t.match(decision, {
        isAllowed: false,
        status: 403,
        errorCode: undefined,
        hint: undefined,
        isWrongKey: false,
      });
      t.equal(decision.client, undefined);
    }
    const preflight = { origin: 'https://a.example', 'access-control-request-method': 'GET' };
    t.equal(verdict({}, { remoteAddress, method: 'OPTIONS', headers: preflight }), '403');
  }
});

t.test('1.step1-blocked comes before everything else', async (t) => {
  const blocked = { blocked_ips: ['192.168.7.0/24'] };
  t.equal(verdict({ auth: blocked }), '403', 'auth off');
  t.equal(verdict({ auth: blocked }, { path: '/api/status' }), '403', 'the public path');
  t.equal(verdict({ auth: blocked }, { path: '/' }), '403', 'the dashboard');
  t.equal(verdict(guarded({ ...blocked, allowed_ips: [PEER] })), '403', 'it wins over the allow list');
  t.equal(verdict(guarded(blocked), { headers: BEARER }), '403', 'a valid key does not help');
  const preflight = { origin: 'https://a.example', 'access-control-request-method': 'GET' };
  t.equal(verdict({ auth: blocked }, { method: 'OPTIONS', headers: preflight }), '403', 'a preflight');
  t.equal(verdict({ auth: blocked }, { remoteAddress: '192.168.8.20' }), 'keyless', 'another address');
  t.match(decide({ auth: blocked }, {}), {
    isPreflight: false,
    client: PEER,
    errorCode: undefined,
    hint: undefined,
    corsOrigin: undefined,
    isWrongKey: false,
  });
  const wrong = { headers: { authorization: 'Bearer wrong' } };
  t.match(decide(guarded(blocked), wrong), { status: 403, isWrongKey: false });
});

t.test('1.step2-status-public /api/status is public', async (t) => {
  const nobody = guarded({ allowed_ips: ['10.0.0.1'] });
  for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
    t.equal(verdict(nobody, { path: '/api/status', method }), 'keyless', method);
  }
  const foreign = {
    host: 'evil.example.com',
    origin: 'https://evil.example.com',
    'sec-fetch-site': 'cross-site',
  };
  t.equal(
    verdict(nobody, { path: '/api/status', method: 'POST', headers: foreign }),
    'keyless',
    'no web guard',
  );
  t.equal(verdict(nobody, { path: '/api/status', headers: { host: [] } }), 'keyless');
  t.equal(verdict(nobody, { path: '/api/status', headers: BEARER }), 'keyed');
  t.equal(verdict(nobody, { path: '/api/status', headers: { authorization: 'Bearer wrong' } }), 'keyless');
});

t.test('1.step2-raw-path only the exact bytes are public', async (t) => {
  const paths = [
    '/api/status/',
    '//api/status',
    '/%61pi/status',
    '/api%2fstatus',
    '/api/statu%73',
    '/api/./status',
    '/api/x/../status',
    '/./api/status',
    '/API/status',
    '/api/Status',
    '/api/status;x',
    '/api/status#x',
    '/api/status\\',
    '/api\\status',
    '/api/status%00',
    '/api/status ',
    ' /api/status',
    'api/status',
    '/api/statusx',
    '/api/statu',
    '/api',
    '',
    '*',
    '//',
    '/.',
    '/;',
    '/?',
    '%2f',
    'http://localhost:9990/api/status',
    'http://localhost:9990/',
  ];
  for (const path of paths) {
    t.equal(verdict(WITH_KEY, { path }), '401', JSON.stringify(path));
    t.equal(verdict(WITH_KEY, { path, headers: BEARER }), 'keyed', `${JSON.stringify(path)} with the key`);
  }
});

t.test('1.step2-dashboard its root and files are public while the dashboard is on', async (t) => {
  const files = ['/app.js'];
  const off: Settings = { ...WITH_KEY, features: { enable_dashboard: false } };
  t.equal(verdict(WITH_KEY, { path: '/' }), 'keyless');
  t.equal(verdict(WITH_KEY, { path: '/app.js' }, files), 'keyless');
  t.equal(
    verdict(WITH_KEY, { path: '/', headers: { host: 'evil.example.com' } }),
    'keyless',
    'it holds no data',
  );
  t.equal(verdict(WITH_KEY, { path: '/app.js' }), '401');
  t.equal(verdict(WITH_KEY, { path: '/app.js/' }, files), '401');
  t.equal(verdict(off, { path: '/' }, files), '401');
  t.equal(verdict(off, { path: '/app.js' }, files), '401');
  t.equal(verdict(off, { path: '/api/status' }, files), 'keyless');
});

t.test('1.step2-dashboard a part of a public path may be any text, and no further part', async (t) => {
  const files = ['/hosts/*/'];
  for (const path of ['/hosts/desk/', '/hosts/*/', '/hosts/%2e/'])
    t.equal(verdict(WITH_KEY, { path }, files), 'keyless', path);
  for (const path of ['/hosts/', '/hosts//', '/hosts/desk', '/hosts/a/b/', '/x/hosts/desk/', '/hosts/desk/?'])
    t.equal(verdict(WITH_KEY, { path }, files), '401', path);
  t.equal(verdict(WITH_KEY, { path: '/hosts/desk/' }), '401', 'without such a page');
});

t.test('1.step3-auth-off accepts, and still recognises a valid key', async (t) => {
  const off: Settings = { auth: { enabled: false, api_key: KEY, allowed_ips: ['10.0.0.1'] } };
  t.equal(verdict(off), 'keyless', 'the allow list is not asked');
  t.equal(verdict(off, { headers: BEARER }), 'keyed');
  t.equal(verdict(off, { headers: { authorization: 'Bearer wrong' } }), 'keyless', 'a wrong key is ignored');
  t.equal(verdict({}, { headers: BEARER }), 'keyless', 'none is configured: none is valid');
  t.equal(decide(off).client, PEER);
});

t.test('1.step3-allow-list 403 outside the allow list, no key needed inside it', async (t) => {
  const refused = { headers: {} };
  t.equal(verdict(guarded({ allowed_ips: ['10.0.0.1'] }), refused), '403', 'no entry matches');
  t.equal(
    verdict(guarded({ allowed_ips: ['10.0.0.1'] }), { headers: BEARER }),
    '403',
    'the key does not help',
  );
  t.equal(
    verdict(guarded({ allowed_ips: ['::/0'] }), { headers: BEARER }),
    '403',
    'nor does a range of the other family',
  );
  t.equal(verdict(guarded({ allowed_ips: [PEER] })), 'keyless', 'a single address skips the key');
  t.equal(
    verdict(guarded({ allowed_ips: ['10.0.0.1', '192.168.0.0/16'] })),
    'keyless',
    'a range skips the key',
  );
  t.equal(verdict(guarded({ allowed_ips: [PEER] }), { headers: BEARER }), 'keyed');
  const wrong = { headers: { authorization: 'Bearer wrong' } };
  t.equal(verdict(guarded({ allowed_ips: [PEER] }), wrong), 'keyless', 'a wrong key is ignored there');
  t.match(decide(guarded({ allowed_ips: ['10.0.0.1'] }), wrong), { status: 403, isWrongKey: false });
});

t.test('1.allow-empty and wildcards require the key', async (t) => {
  for (const allowed_ips of [[], ['*'], ['*', '10.0.0.5']]) {
    t.equal(verdict(guarded({ allowed_ips })), '401', JSON.stringify(allowed_ips));
    t.equal(verdict(guarded({ allowed_ips }), { headers: BEARER }), 'keyed');
  }
  t.equal(verdict(guarded({ allowed_ips: ['*', '10.0.0.5'] }), { remoteAddress: '10.0.0.5' }), 'keyless');
  t.equal(
    verdict(guarded({ allowed_ips: ['*', '10.0.0.5'] }), { remoteAddress: '::ffff:10.0.0.5' }),
    'keyless',
  );
});

t.test('1.keys-bearer Bearer in any case, in exactly one Authorization header', async (t) => {
  const rows: readonly (readonly [string | readonly string[], string])[] = [
    [`Bearer ${KEY}`, 'keyed'],
    [`bearer ${KEY}`, 'keyed'],
    [`BEARER ${KEY}`, 'keyed'],
    [`Bearer   ${KEY}`, 'keyed'],
    [[], '401'],
    ['', '401'],
    ['Bearer', '401'],
    ['Bearer ', '401'],
    [KEY, '401'],
    [`Bearer${KEY}`, '401'],
    [`Bearer\t${KEY}`, '401'],
    [` Bearer ${KEY}`, '401'],
    [`xBearer ${KEY}`, '401'],
    [`Basic ${KEY}`, '401'],
    [`Bearer ${KEY}x`, '401'],
    [`Bearer x${KEY}`, '401'],
    [`Bearer ${KEY} `, '401'],
    [`Bearer ${KEY.slice(1)}`, '401'],
    [`Bearer ${KEY.toUpperCase()}`, '401'],
    [`Bearer "${KEY}"`, '401'],
    [[`Bearer ${KEY}`, `Bearer ${KEY}`], '401'],
    [[`Bearer ${KEY}`, 'Basic x'], '401'],
    [['Bearer wrong', `Bearer ${KEY}`], '401'],
  ];
  for (const [authorization, expected] of rows) {
    const decision = decide(WITH_KEY, { headers: { authorization } });
    t.equal(verdict(WITH_KEY, { headers: { authorization } }), expected, JSON.stringify(authorization));
    const isWrongKey = expected === '401' && authorization.length + (authorization === '' ? 1 : 0) > 0;
    if (!decision.isAllowed)
      t.match(decision, { isWrongKey, errorCode: undefined, hint: undefined, client: PEER });
  }
});

t.test('1.keys-odd any text can be the key', async (t) => {
  for (const api_key of ['k', 'with a space', 'ünïcode-✓', 'x'.repeat(4000)]) {
    t.equal(verdict(guarded({ api_key }), { headers: { authorization: `Bearer ${api_key}` } }), 'keyed');
    t.equal(verdict(guarded({ api_key }), { headers: { authorization: `Bearer ${api_key}.` } }), '401');
  }
});

t.test('1.keys-none auth without a key: no key can match', async (t) => {
  for (const api_key of [undefined, '']) {
    for (const candidate of ['', 'undefined', 'null', KEY]) {
      const headers = { authorization: `Bearer ${candidate}` };
      t.equal(verdict(guarded({ api_key }), { headers, queryKeys: [candidate] }), '401', candidate);
    }
    t.equal(verdict(guarded({ api_key, allowed_ips: [PEER] })), 'keyless', 'an allow list alone is legal');
  }
});

t.test('7.key-query exactly one api_key', async (t) => {
  const rows: readonly (readonly [RequestChange, string])[] = [
    [{ queryKeys: [KEY] }, 'keyed'],
    [{ queryKeys: [] }, '401'],
    [{ queryKeys: ['wrong'] }, '401'],
    [{ queryKeys: [KEY, KEY] }, '401'],
    [{ queryKeys: ['wrong', KEY] }, '401'],
    [{ queryKeys: [`Bearer ${KEY}`] }, '401'],
    [{ queryKeys: ['wrong'], headers: BEARER }, 'keyed'],
    [{ queryKeys: [KEY], headers: { authorization: 'Bearer wrong' } }, 'keyed'],
  ];
  for (const [change, expected] of rows) {
    t.equal(
      verdict(WITH_KEY, { path: '/api/ws', isUpgrade: true, ...change }),
      expected,
      JSON.stringify(change),
    );
  }
  t.match(decide(WITH_KEY, { queryKeys: ['wrong'] }), { isWrongKey: true });
  t.match(decide(WITH_KEY, {}), { isWrongKey: false });
});

t.test('1.addresses-mapped a mapped peer is an IPv4 client', async (t) => {
  const lists = guarded({ allowed_ips: ['10.0.0.0/8'], blocked_ips: ['10.6.6.6'] });
  for (const remoteAddress of ['10.1.1.1', '::ffff:10.1.1.1', '0000:0000:0000:0000:0000:ffff:0a01:0101']) {
    const decision = decide(lists, { remoteAddress });
    t.match(decision, { isAllowed: true, isKeyed: false, client: '10.1.1.1' });
  }
  t.equal(verdict(lists, { remoteAddress: '::ffff:10.6.6.6' }), '403');
});

t.test('1.forwarded-no-skip a header of an untrusted proxy requires the key', async (t) => {
  const open = { allowed_ips: ['127.0.0.1'] };
  const local = { remoteAddress: '127.0.0.1' };
  for (const name of FORWARDING_HEADERS) {
    for (const value of ['127.0.0.1', '']) {
      const headers = { [name]: value };
      t.equal(verdict(guarded(open), { ...local, headers }), '401', name);
      t.equal(verdict(guarded(open), { ...local, headers: { ...headers, ...BEARER } }), 'keyed', name);
      t.equal(verdict(guarded({ ...open, refuse_forwarded: false }), { ...local, headers }), 'keyless', name);
    }
    t.ok(ACCESS_HEADERS.includes(name), name);
  }
  t.equal(verdict(guarded(open), local), 'keyless');
  t.equal(
    verdict({}, { headers: { 'x-forwarded-for': '1.2.3.4' } }),
    'keyless',
    'with auth off nothing is skipped',
  );
  const known =
    'forwarded via x-forwarded x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto x-forwarded-scheme ' +
    'x-forwarded-server x-forwarded-by x-original-forwarded-for x-original-host x-real-ip x-client-ip ' +
    'x-cluster-client-ip true-client-ip cf-connecting-ip fastly-client-ip';
  t.same(
    FORWARDING_HEADERS,
    known.split(' '),
    'a header that falls off the list opens allow lists behind its proxy',
  );
});

t.test('1.forwarded-ignored X-Forwarded-For of an untrusted peer is ignored', async (t) => {
  const headers = { 'x-forwarded-for': '10.6.6.6' };
  t.equal(verdict({ auth: { blocked_ips: ['10.6.6.6'] } }, { headers }), 'keyless');
  t.equal(verdict({ auth: { blocked_ips: [PEER] } }, { headers }), '403');
  t.equal(verdict(guarded({ allowed_ips: ['10.6.6.6'] }), { headers }), '403');
  t.equal(decide({}, { headers }).client, PEER);
});

t.test('1.forwarded-rightmost a trusted proxy names the client', async (t) => {
  const settings: Settings = { server: { trusted_proxies: [PEER, '10.0.0.0/8'] } };
  const rows: readonly (readonly [string | readonly string[], string | undefined])[] = [
    ['203.0.113.7', '203.0.113.7'],
    ['1.1.1.1, 203.0.113.7', '203.0.113.7'],
    ['1.1.1.1,203.0.113.7,10.0.0.4', '203.0.113.7'],
    [['1.1.1.1', '203.0.113.7, 10.0.0.4', '10.0.0.5'], '203.0.113.7'],
    ['garbage, 203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:DB8::5', '2001:db8::5'],
    ['[2001:db8::5]', '2001:db8::5'],
    ['[2001:db8::5]:443', '2001:db8::5'],
    ['203.0.113.7:65000', '203.0.113.7'],
    ['  203.0.113.7\t', '203.0.113.7'],
    ['10.0.0.4, 10.0.0.5', '10.0.0.4'],
    ['10.0.0.4', '10.0.0.4'],
    ['203.0.113.7, unknown', undefined],
    ['203.0.113.7, ', undefined],
    ['203.0.113.7, unknown, 10.0.0.4', undefined],
    ['unknown, 10.0.0.4', undefined],
    ['', undefined],
    ['203.0.113.7:', undefined],
    ['203.0.113.7:x', undefined],
    ['203.0.113.7:123456', undefined],
    ['x203.0.113.7:1', undefined],
    ['203.0.113.7:1x', undefined],
    ['2001:db8::5:443:1:2:3:4:5', undefined],
    ['[2001:db8::5', undefined],
    ['x[2001:db8::5]', undefined],
    ['fe80::1%eth0', undefined],
    ['203.0.113.07', undefined],
    ['127.1', undefined],
  ];
  for (const [value, client] of rows) {
    const decision = decide(settings, { headers: { 'x-forwarded-for': value } });
    t.equal(decision.client, client, JSON.stringify(value));
    t.equal(decision.isAllowed, client !== undefined, JSON.stringify(value));
  }
  t.equal(
    decide(settings, { remoteAddress: `::ffff:${PEER}`, headers: { 'x-forwarded-for': '1.1.1.1' } }).client,
    '1.1.1.1',
  );
  t.equal(decide(settings).client, PEER, 'without the header it speaks for itself');
});

t.test('1.forwarded-rightmost the client it names is checked in all steps', async (t) => {
  const proxy = { trusted_proxies: [PEER] };
  const from = (client: string): RequestChange => ({ headers: { 'x-forwarded-for': client } });
  const lists = { allowed_ips: ['10.0.0.0/8'], blocked_ips: ['10.6.6.6'] };
  t.equal(verdict(guarded(lists, proxy), from('10.1.1.1')), 'keyless');
  t.equal(verdict(guarded(lists, proxy), from('10.6.6.6')), '403');
  t.equal(verdict(guarded(lists, proxy), from('11.1.1.1')), '403');
  t.equal(verdict(guarded({}, proxy), from('10.1.1.1')), '401');
  t.equal(
    verdict(guarded(lists, proxy), from('10.6.6.6, 10.1.1.1')),
    'keyless',
    'elements left of it may be forged',
  );
  const own = guarded({ allowed_ips: [PEER] }, proxy);
  t.equal(verdict(own), 'keyless');
  t.equal(
    verdict(own, { headers: { 'x-real-ip': '1.1.1.1' } }),
    '401',
    'it forwards without naming the client',
  );
  t.equal(verdict(own, { headers: { 'x-forwarded-for': PEER, via: '1.1 proxy' } }), 'keyless');
});

t.test('a policy uses the lists that the configuration was checked with', async (t) => {
  const config = configOf({
    auth: { allowed_ips: ['*'], blocked_ips: ['10.0.0.1'] },
    server: { trusted_proxies: ['::/64'] },
  });
  const { allowed, blocked, trustedProxies } = compileAccess(config, MACHINE_NAMES);
  t.equal(allowed, config.auth.allowed_ips.rules);
  t.equal(blocked, config.auth.blocked_ips.rules);
  t.equal(trustedProxies, config.server.trusted_proxies.rules);
  t.ok(allowed.hasWildcard);
});

t.test('ACCESS_HEADERS lists every header that a decision depends on', async (t) => {
  for (const name of [
    'host',
    'origin',
    'authorization',
    'sec-fetch-site',
    'sec-fetch-mode',
    'sec-fetch-dest',
    'sec-fetch-user',
    'access-control-request-method',
    'access-control-request-headers',
  ]) {
    t.ok(ACCESS_HEADERS.includes(name), name);
  }
  t.ok(ACCESS_HEADERS.every((name) => name === name.toLowerCase()));
  t.equal(new Set(ACCESS_HEADERS).size, ACCESS_HEADERS.length);
});
