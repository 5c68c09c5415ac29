/** Step 4: the guard against foreign web pages that use a service without a key through its owner's browser. */
import t from 'tap';
import { BEARER, decide, type HeaderTable, KEY, type Settings, verdict } from './setup.ts';

const EVIL = 'https://evil.example.com';
const LISTED: Settings = { server: { cors_origins: ['https://dash.example.org'] } };

t.test('1.step4-keyed a request with the key is not guarded', async (t) => {
  const headers = { ...BEARER, host: 'evil.example.com', origin: EVIL, 'sec-fetch-site': 'cross-site' };
  const settings: Settings = { auth: { api_key: KEY } };
  t.equal(verdict(settings, { method: 'POST', headers }), 'keyed');
  t.equal(verdict(settings, { headers: { ...headers, host: [] } }), 'keyed');
  t.equal(verdict(settings, { isUpgrade: true, headers }), 'keyed');
  t.equal(
    verdict({}, { method: 'POST', headers }),
    '403 host_not_allowed',
    'the same without a configured key',
  );
});

t.test('1.step4-host-safe host names that cannot have been rebound pass', async (t) => {
  const names = [
    '127.0.0.1',
    '192.168.7.2',
    '0.0.0.0',
    '8.8.8.8',
    '[::1]',
    '[2001:DB8::7]',
    '[::ffff:192.168.7.2]',
    '[fe80::1%25eth0]',
    '[fe80::1%eth0]',
    'localhost',
    'app.localhost',
    'a.b.localhost',
    'pc',
    'pc.campus.edu',
    'pc.local',
    'pc.lan',
    'pc.home',
    'pc.home.arpa',
    'pc.internal',
    'pc.localdomain',
    'pc.intranet',
    'pc.corp',
    'pc.private',
    'pc.fritz.box',
    'pc.tail1234.ts.net',
    `${'a'.repeat(63)}.localhost`,
  ];
  for (const name of names) {
    for (const host of [name, `${name}:9990`, `${name}:`, `${name.toUpperCase()}:80`, `${name}:65535`]) {
      t.equal(verdict({}, { headers: { host } }), 'keyless', host);
    }
    if (!name.startsWith('['))
      t.equal(verdict({}, { headers: { host: `${name}.:9990` } }), 'keyless', `${name}.`);
  }
});

t.test('1.step4-host-unsafe any other host name: 403 host_not_allowed', async (t) => {
  const hosts = [
    'evil.com',
    'evil.example.com',
    // The owner of the Wi-Fi, or of a name server of the LAN, decides what these names resolve to.
    'wifi',
    'portal.lan',
    'tv.local',
    'login.internal',
    'nas.home',
    'nas.home.arpa',
    'nas.localdomain',
    'nas.intranet',
    'nas.corp',
    'nas.private',
    'fritz.box',
    'nas.fritz.box',
    'nas.tail1234.ts.net',
    'cast.local.',
    'GATE.Lan',
    'pc.test',
    'pc.ts.net',
    'pc.a.b.ts.net',
    'pc.*.ts.net',
    '*.lan',
    'x.pc.lan',
    'xpc',
    'xpc.lan',
    'pc-lan',
    'pc.evil.lan',
    'pc.lan.evil.com',
    // As browsers send the machine's name in Cyrillic letters.
    'xn--p1ac.lan',
    'campus',
    'campus.lan',
    'localhost.evil.com',
    'localhost.lan',
    'xlocalhost',
    'evil-localhost.com',
    'nas.local.evil.com',
    'local.com',
    'nas.locally',
    'nas.xlocal',
    'home.arpa',
    'ts.net',
    'xts.net',
    'x.home.arpa.com',
    'campus.edu',
    'x.pc.campus.edu',
    'xpc.campus.edu',
    'pc.campus.edu.evil.com',
    '127.0.0.1.nip.io',
    '192-168-77-10.evil.com',
    '1.2.3',
    '127.0.0.01',
    '1.2.3.256',
    '1.2.3.4.5',
    '::1',
    '[::1',
    '::1]',
    '[]',
    '[1.2.3.4]',
    '[::1%]',
    '[::1%eth/0]',
    '[::1]x',
    '[::1%eth0',
    'x[::1]',
    '[evil.com]',
    '[::1].com',
    'localhost:x',
    'localhost:80:80',
    'localhost:65536',
    'localhost:099999',
    'localhost:-1',
    'localhost/',
    'user@localhost',
    'local host',
    'http://localhost',
    'localhost..',
    '.localhost',
    '.',
    ':9990',
    'evil..local',
    'évil.local',
    'xn--vil-9ma.com',
    'evil.com%00.local',
    'evil.com,a.local',
    `${'a'.repeat(64)}.localhost`,
    `${'a.'.repeat(123)}localhost`,
  ];
  for (const host of hosts) {
    t.equal(verdict({}, { headers: { host } }), '403 host_not_allowed', host);
    t.equal(verdict({}, { method: 'POST', headers: { host } }), '403 host_not_allowed', `POST ${host}`);
  }
  t.equal(
    verdict({}, { headers: { host: `${'a.'.repeat(122)}localhost` } }),
    'keyless',
    'a name of 253 characters',
  );
});

t.test('1.step4-host-allowed server.allowed_hosts, without port, case and trailing dot', async (t) => {
  for (const entry of ['stats.example.com', 'STATS.Example.com.', 'stats.example.com:9990', 'x.org']) {
    const settings: Settings = { server: { allowed_hosts: ['other.org', entry] } };
    for (const host of ['stats.example.com', 'Stats.EXAMPLE.com.:1234', 'stats.example.com:9990']) {
      t.equal(
        verdict(settings, { headers: { host } }),
        entry === 'x.org' ? '403 host_not_allowed' : 'keyless',
        host,
      );
    }
    for (const host of [
      'x.stats.example.com',
      'xstats.example.com',
      'stats.example.com.evil.com',
      'example.com',
    ]) {
      t.equal(verdict(settings, { headers: { host } }), '403 host_not_allowed', host);
    }
  }
});

t.test('1.step4-host-missing or two of them is 400', async (t) => {
  const rows = [[], [''], ['localhost', 'localhost'], ['localhost:9990', 'evil.com'], ['', '']];
  for (const host of rows) {
    const decision = decide({}, { headers: { host, origin: EVIL }, method: 'POST' });
    t.match(decision, {
      isAllowed: false,
      status: 400,
      errorCode: undefined,
      hint: undefined,
      isWrongKey: false,
    });
  }
});

t.test('1.step4-origin-same the same host and port may act', async (t) => {
  const rows: readonly (readonly [string, string])[] = [
    ['localhost:9990', 'http://localhost:9990'],
    ['LocalHost:9990', 'http://localhost:9990'],
    ['localhost:9990', 'HTTP://LOCALHOST:9990'],
    ['localhost', 'http://localhost'],
    ['localhost', 'http://localhost:80'],
    ['localhost:80', 'http://localhost'],
    ['localhost:', 'http://localhost'],
    ['pc.lan', 'https://pc.lan'],
    ['pc.lan:443', 'https://pc.lan'],
    ['pc.lan', 'https://pc.lan:443'],
    ['pc.lan:80', 'https://pc.lan:80'],
    ['[::1]:9990', 'http://[::1]:9990'],
    ['[0:0::1]:9990', 'http://[::1]:9990'],
    ['192.168.7.2:9990', 'http://192.168.7.2:9990'],
  ];
  for (const [host, origin] of rows) {
    t.equal(verdict({}, { method: 'POST', headers: { host, origin } }), 'keyless', `${origin} on ${host}`);
    t.equal(verdict({}, { isUpgrade: true, headers: { host, origin } }), 'keyless', `${origin} on ${host}`);
  }
});

t.test('1.step4-origin-tls over TLS the scheme of an own page is https', async (t) => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['localhost:9990', 'https://localhost:9990', true],
    ['localhost', 'https://localhost', true],
    ['localhost:443', 'https://localhost', true],
    ['localhost:9990', 'http://localhost:9990', false],
    ['localhost', 'http://localhost', false],
    ['localhost:80', 'http://localhost', false],
    ['localhost:80', 'https://localhost', false],
  ];
  for (const [host, origin, isOwn] of rows) {
    const request = { method: 'POST', scheme: 'https' as const, headers: { host, origin } };
    t.equal(verdict({}, request), isOwn ? 'keyless' : '403 origin_not_allowed', `${origin} on ${host}`);
    t.equal(
      verdict({}, { ...request, method: 'GET', isUpgrade: true }),
      isOwn ? 'keyless' : '403 origin_not_allowed',
    );
  }
});

t.test('1.step4-origin-foreign compared exactly, never by prefix, suffix or substring', async (t) => {
  const origins: readonly (string | readonly string[])[] = [
    EVIL,
    'null',
    '',
    'http://localhost',
    'http://localhost:999',
    'http://localhost:99900',
    'https://localhost:9991',
    'http://localhost:9990.evil.com',
    'http://localhost:9990@evil.com',
    'http://user@localhost:9990',
    'http://localhost:9990/',
    'http://localhost:9990/x',
    'http://localhost:9990?x',
    'http://localhost:9990#x',
    'http://xlocalhost:9990',
    'http://localhost.:9990',
    'http://127.0.0.1:9990',
    'http://localhost:9990 http://localhost:9990',
    ' http://localhost:9990',
    'localhost:9990',
    '//localhost:9990',
    'ftp://localhost:9990',
    'xhttp://localhost:9990',
    'httpx://localhost:9990',
    'file://',
    'http://%6cocalhost:9990',
    'http://localhost:99999',
    'http://[:9990',
    ['http://localhost:9990', 'http://localhost:9990'],
    ['http://localhost:9990', EVIL],
  ];
  for (const origin of origins) {
    const text = JSON.stringify(origin);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'BREW', 'get', '']) {
      t.equal(
        verdict({}, { method, headers: { origin } }),
        '403 origin_not_allowed',
        `${method} from ${text}`,
      );
    }
    t.equal(
      verdict({}, { isUpgrade: true, headers: { origin } }),
      '403 origin_not_allowed',
      `upgrade from ${text}`,
    );
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      t.equal(
        verdict({}, { method, headers: { origin } }),
        '403 origin_not_allowed',
        `${method} from ${text}`,
      );
  }
});

t.test('1.step4-origin-scheme a page on another default port is foreign', async (t) => {
  for (const [host, origin] of [
    ['pc.lan:443', 'http://pc.lan'],
    ['pc.lan:80', 'https://pc.lan'],
    ['pc.lan:9990', 'https://pc.lan'],
    ['[fe80::1%eth0]:80', 'http://[fe80::1]'],
  ] as const) {
    t.equal(
      verdict({}, { method: 'POST', headers: { host, origin } }),
      '403 origin_not_allowed',
      `${origin} on ${host}`,
    );
  }
});

t.test('1.step4-proxied only a trusted proxy names the host and the scheme', async (t) => {
  const behind: Settings = {
    server: { trusted_proxies: ['192.168.7.20'], allowed_hosts: ['pc.example.org'] },
  };
  const judge = (headers: HeaderTable, settings = behind) => verdict(settings, { method: 'POST', headers });
  const forwarded = { 'x-forwarded-host': 'pc.example.org', 'x-forwarded-proto': 'https' };
  t.equal(judge({ ...forwarded, origin: 'https://pc.example.org' }), 'keyless');
  for (const host of ['127.0.0.1:9990', 'localhost', 'pc'])
    t.equal(judge({ ...forwarded, host, origin: 'https://pc.example.org' }), 'keyless', host);
  const other = '403 origin_not_allowed';
  t.equal(judge({ ...forwarded, origin: 'http://pc.example.org' }), other, 'a page without TLS');
  t.equal(judge({ ...forwarded, origin: 'http://localhost:9990' }), other);
  const unsafe = '403 host_not_allowed';
  t.equal(judge({ 'x-forwarded-host': 'evil.com' }), unsafe);
  t.equal(judge({ 'x-forwarded-host': 'localhost, evil.com' }), unsafe, "the last one is the proxy's own");
  t.equal(judge({ 'x-forwarded-host': ['localhost', 'evil.com'] }), unsafe);
  for (const host of ['evil.com', 'upstream:1'])
    t.equal(judge({ ...forwarded, host }), unsafe, 'a page with a rebound name may set X-Forwarded-Host');
  t.equal(judge({ host: 'evil.com', 'x-forwarded-host': 'localhost' }, {}), unsafe, 'from anybody else');
  t.equal(judge({ 'x-forwarded-host': 'evil.com' }, {}), 'keyless', 'ignored from anybody else');
});

t.test('1.step4-origin-listed server.cors_origins, exactly', async (t) => {
  const settings: Settings = {
    server: { cors_origins: ['https://Dash.example.org:443', 'app://obsidian.md', 'http://[::1]:80'] },
  };
  for (const origin of [
    'https://dash.example.org',
    'HTTPS://DASH.example.org',
    'app://obsidian.md',
    'http://[::1]',
  ]) {
    for (const site of [[], 'cross-site', 'same-site']) {
      const headers = { origin, 'sec-fetch-site': site };
      t.equal(verdict(settings, { method: 'POST', headers }), 'keyless', origin);
      t.equal(verdict(settings, { isUpgrade: true, headers }), 'keyless', origin);
    }
  }
  const near = [
    'http://dash.example.org',
    'https://dash.example.org:444',
    'https://dash.example.org.evil.com',
    'https://xdash.example.org',
    'https://x.dash.example.org',
    'https://dash.example.or',
    'https://dash.example.org/',
    'app://obsidian.mdx',
    'apps://obsidian.md',
    'null',
  ];
  for (const origin of near) {
    t.equal(verdict(settings, { method: 'POST', headers: { origin } }), '403 origin_not_allowed', origin);
  }
  const twice = { origin: ['https://dash.example.org', 'https://dash.example.org'] };
  t.equal(verdict(settings, { method: 'POST', headers: twice }), '403 origin_not_allowed');
  const wild: Settings = { server: { cors_origins: ['*', 'null', 'https://*.evil.com'] } };
  for (const origin of ['null', EVIL, 'https://a.evil.com', '*']) {
    t.equal(
      verdict(wild, { method: 'POST', headers: { origin } }),
      '403 origin_not_allowed',
      `${origin} is never listed`,
    );
  }
  t.equal(
    verdict(settings, { headers: { origin: 'https://dash.example.org', host: 'evil.com' } }),
    '403 host_not_allowed',
    'a listed page does not make a name safe',
  );
});

t.test('1.step4-fetch-site Sec-Fetch-Site of another site on a state-changing request: 403', async (t) => {
  const own = 'http://localhost:9990';
  const rows: readonly (readonly [HeaderTable, string])[] = [
    [{ 'sec-fetch-site': 'cross-site' }, '403 origin_not_allowed'],
    [{ 'sec-fetch-site': 'same-site' }, '403 origin_not_allowed'],
    [{ 'sec-fetch-site': 'Cross-Site ' }, '403 origin_not_allowed'],
    [{ 'sec-fetch-site': ['none', 'cross-site'] }, '403 origin_not_allowed'],
    [{ 'sec-fetch-site': 'same-origin' }, 'keyless'],
    [{ 'sec-fetch-site': 'none' }, 'keyless'],
    [{ 'sec-fetch-site': 'cross-site', origin: own }, '403 origin_not_allowed'],
    [{ 'sec-fetch-site': 'same-origin', origin: own }, 'keyless'],
  ];
  for (const [headers, expected] of rows) {
    t.equal(verdict({}, { method: 'POST', headers }), expected, JSON.stringify(headers));
    t.equal(verdict({}, { isUpgrade: true, headers }), expected, `upgrade ${JSON.stringify(headers)}`);
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      t.equal(verdict({}, { method, headers }), expected, `${method} ${JSON.stringify(headers)}`);
  }
});

t.test('1.step4-navigation a link from another site may be followed, and nothing else', async (t) => {
  const link = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
    'sec-fetch-user': '?1',
  };
  t.equal(verdict({}, { headers: link }), 'keyless');
  t.equal(verdict({}, { headers: { ...link, 'sec-fetch-site': 'same-site' } }), 'keyless');
  const refused = '403 origin_not_allowed';
  for (const mode of [
    'no-cors',
    'cors',
    'same-origin',
    'websocket',
    '',
    ['navigate', 'cors'],
    ['no-cors', 'navigate'],
  ])
    t.equal(verdict({}, { headers: { ...link, 'sec-fetch-mode': mode } }), refused, JSON.stringify(mode));
  // Frames and embedded documents navigate too, and report to the page around them when they have loaded.
  for (const dest of [
    'iframe',
    'frame',
    'object',
    'embed',
    'fencedframe',
    'empty',
    '',
    [],
    ['document', 'iframe'],
  ])
    t.equal(verdict({}, { headers: { ...link, 'sec-fetch-dest': dest } }), refused, JSON.stringify(dest));
  // Without a click: a page that navigates itself, or a window that it opened before.
  for (const user of [[], '?0', '', '1', ['?1', '?0']])
    t.equal(verdict({}, { headers: { ...link, 'sec-fetch-user': user } }), refused, JSON.stringify(user));
  for (const method of ['POST', 'HEAD', 'OPTIONS', 'DELETE'])
    t.equal(verdict({}, { method, headers: link }), refused, method);
  t.equal(verdict({}, { isUpgrade: true, headers: link }), refused, 'an upgrade');
  t.equal(verdict({}, { headers: { ...link, origin: EVIL } }), refused, 'a navigation sends no Origin');
});

t.test('1.step4-programs curl and scripts send neither header', async (t) => {
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']) {
    for (const isUpgrade of [false, true]) t.equal(verdict({}, { method, isUpgrade }), 'keyless', method);
  }
});

t.test('1.step4-allow-listed an address that skips the key is keyless, so the guard holds', async (t) => {
  const settings: Settings = { auth: { enabled: true, allowed_ips: ['192.168.7.20'] } };
  t.equal(verdict(settings, { method: 'POST', headers: { origin: EVIL } }), '403 origin_not_allowed');
  t.equal(verdict(settings, { headers: { host: 'evil.com' } }), '403 host_not_allowed');
  t.equal(
    verdict({ auth: { enabled: true } }, { headers: { host: 'evil.com' } }),
    '401',
    'the key comes first',
  );
});

t.test('1.step4-hint the line to add to the configuration', async (t) => {
  const hintOf = (headers: HeaderTable) => {
    const decision = decide(LISTED, { method: 'POST', headers });
    t.notOk(decision.isAllowed);
    return decision.isAllowed ? undefined : decision.hint;
  };
  t.equal(
    hintOf({ host: 'Stats.Example.com.:9990' }),
    `refused the host name stats.example.com; if it is this machine's, add "server": { "allowed_hosts": ["stats.example.com"] }`,
  );
  t.equal(hintOf({ host: 'a b' }), 'refused a request whose Host header is not a host name');
  t.equal(
    hintOf({ origin: 'HTTPS://Evil.example.com:443' }),
    'refused a web page from https://evil.example.com; if it is yours, add "server": { "cors_origins": ["https://evil.example.com"] }',
  );
  t.equal(
    hintOf({ origin: 'null' }),
    'refused a request from the origin null, which cannot be listed; the page must send the key',
  );
  t.equal(hintOf({ origin: 'a b' }), 'refused a request whose Origin header is not an origin');
  const nameless = 'refused a request from another web site with no Origin header, or several';
  t.equal(hintOf({ origin: [EVIL, EVIL] }), nameless);
  t.equal(hintOf({ 'sec-fetch-site': 'cross-site' }), nameless);
});
