/** Requests with configurations, as points in a grid of dimensions, for the matrix and for replays over sockets. */
import type { AccessRequest } from '#src/access/request.js';
import type { Random } from '../helpers/random.ts';
import { KEY, requestOf, type Settings } from './setup.ts';

export interface Case {
  readonly auth: boolean;
  readonly key: string | undefined;
  readonly block: readonly string[];
  readonly allow: readonly string[];
  readonly trusted: readonly string[];
  readonly refuseForwarded: boolean;
  readonly dashboard: boolean;
  readonly origins: readonly string[];
  readonly hosts: readonly string[];
  readonly peer: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly upgrade: boolean;
  readonly query: readonly string[];
  readonly authorization: readonly string[];
  readonly host: readonly string[];
  readonly origin: readonly string[];
  readonly fetchSite: readonly string[];
  readonly fetchMode: readonly string[];
  readonly fetchDest: readonly string[];
  readonly fetchUser: readonly string[];
  readonly forwarding: readonly (readonly [name: string, value: string])[];
  readonly requestMethod: readonly string[];
  readonly requestHeaders: readonly string[];
}

export type Dimension = keyof Case;
type Dimensions = { readonly [D in Dimension]: readonly Case[D][] };

const OWN = 'http://localhost:9990';
const LISTED = 'https://dash.example.org';

/** The first value of each is the harmless one. Loopback peers can be replayed over real sockets. */
export const DIMENSIONS: Dimensions = {
  auth: [true, false],
  key: [KEY, undefined, 'short'],
  block: [
    [],
    ['127.0.0.9'],
    ['127.0.0.8/29'],
    ['::1'],
    ['::ffff:127.0.0.9'],
    ['::/0'],
    ['192.168.0.0/16', '2001:db8::/32'],
  ],
  allow: [
    [],
    ['*'],
    ['127.0.0.1'],
    ['127.0.0.0/8', '::1'],
    ['192.168.7.0/24', '2001:db8::5'],
    ['10.1.2.3'],
    ['*', '127.0.0.9'],
    ['0.0.0.0/0'],
    ['::/0'],
    ['::ffff:127.0.0.0/125'],
    ['*', '::1', '203.0.113.0/24'],
  ],
  trusted: [[], ['127.0.0.1'], ['127.0.0.0/8', '10.0.0.0/8', '::1']],
  refuseForwarded: [true, false],
  dashboard: [true, false],
  origins: [[], [LISTED], ['http://panel.lan:8123', 'app://obsidian.md', LISTED]],
  hosts: [[], ['stats.example.com']],
  peer: [
    '127.0.0.1',
    '127.0.0.9',
    '::1',
    '::ffff:127.0.0.9',
    '0000:0000:0000:0000:0000:ffff:7f00:0001',
    '192.168.7.20',
    '2001:db8::5',
    'fe80::1%eth0',
    undefined,
    '',
  ],
  method: ['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'],
  path: [
    '/api/usage',
    '/metrics',
    '/api/history',
    '/api/status',
    '/',
    '/api/ws',
    '/api/pw/sleep',
    '/api/wake',
    '/api/status/',
    '//api/status',
    '/%61pi/status',
  ],
  upgrade: [false, true],
  query: [[], [KEY], ['wrong'], [KEY, KEY]],
  authorization: [
    [],
    [`Bearer ${KEY}`],
    [`bEARER  ${KEY}`],
    ['Bearer wrong'],
    [`Bearer ${KEY}x`],
    [`Basic ${KEY}`],
    [KEY],
    ['Bearer short'],
    ['Bearer '],
    [`Bearer ${KEY}`, `Bearer ${KEY}`],
  ],
  host: [
    ['localhost:9990'],
    ['LOCALHOST.:9990'],
    ['192.168.7.2:9990'],
    ['[::1]:9990'],
    ['pc.campus.edu:9990'],
    ['pc:9990'],
    ['nas.home.arpa'],
    ['pc.fritz.box'],
    ['wifi'],
    ['evil.example.com:9990'],
    ['stats.example.com:9990'],
    ['localhost.evil.com'],
    ['home.arpa'],
    ['local host'],
    [],
    [''],
    ['localhost:9990', 'localhost:9990'],
  ],
  origin: [
    [],
    [OWN],
    [LISTED],
    ['https://evil.example.com'],
    ['null'],
    ['http://localhost'],
    ['http://localhost:99901'],
    [`${LISTED}.evil.com`],
    ['app://obsidian.md'],
    ['http://panel.lan:8123'],
    ['http://192.168.7.2:9990'],
    ['HTTP://LOCALHOST:9990'],
    ['http://nas.home.arpa'],
    ['http://pc.fritz.box'],
    ['https://pc.lan'],
    [''],
    ['http://user@localhost:9990'],
    [OWN, OWN],
  ],
  fetchSite: [[], ['same-origin'], ['none'], ['cross-site'], ['same-site'], ['same-origin', 'cross-site']],
  fetchMode: [['navigate'], [], ['no-cors'], ['cors']],
  fetchDest: [['document'], [], ['iframe'], ['empty']],
  fetchUser: [['?1'], [], ['?0']],
  forwarding: [
    [],
    [['x-forwarded-for', '203.0.113.7']],
    [['x-forwarded-for', '127.0.0.9, 203.0.113.7, 10.0.0.4']],
    [
      ['x-forwarded-for', '203.0.113.7'],
      ['x-forwarded-for', '127.0.0.9'],
    ],
    [['x-forwarded-for', '10.0.0.4,127.0.0.1']],
    [['x-forwarded-for', '127.0.0.9, unknown']],
    [['x-forwarded-for', '']],
    [['x-forwarded-for', '[2001:db8::5]:4711']],
    [['x-forwarded-for', '192.168.7.20:4711']],
    [['x-real-ip', '127.0.0.1']],
    [['forwarded', 'for=127.0.0.1']],
    [['via', '1.1 proxy']],
    [['x-forwarded-host', 'evil.example.com']],
    [
      ['x-forwarded-for', '203.0.113.7'],
      ['x-forwarded-host', 'evil.example.com, pc.lan'],
      ['x-forwarded-proto', 'https'],
    ],
    [
      ['x-forwarded-host', 'pc.lan:443'],
      ['x-forwarded-proto', 'HTTP'],
    ],
  ],
  requestMethod: [[], ['POST']],
  requestHeaders: [[], ['content-type'], ['content-type, Authorization'], ['x-authorization']],
};

/** Object.keys widens to string[]; the object's type has exactly these keys. */
export const DIMENSION_NAMES = Object.keys(DIMENSIONS) as readonly Dimension[];

/** Any point of the grid; with `calmness` 0 to 100, that percentage of dimensions keep their harmless value. */
export function randomCase(random: Random, calmness: number): Case {
  const at = <D extends Dimension>(name: D): Case[D] => {
    const values = DIMENSIONS[name];
    const index = random.below(100) < calmness ? 0 : random.below(values.length);
    // The index is within the list; undefined is a value of its own in some lists.
    return values[index] as Case[D];
  };
  return {
    auth: at('auth'),
    key: at('key'),
    block: at('block'),
    allow: at('allow'),
    trusted: at('trusted'),
    refuseForwarded: at('refuseForwarded'),
    dashboard: at('dashboard'),
    origins: at('origins'),
    hosts: at('hosts'),
    peer: at('peer'),
    method: at('method'),
    path: at('path'),
    upgrade: at('upgrade'),
    query: at('query'),
    authorization: at('authorization'),
    host: at('host'),
    origin: at('origin'),
    fetchSite: at('fetchSite'),
    fetchMode: at('fetchMode'),
    fetchDest: at('fetchDest'),
    fetchUser: at('fetchUser'),
    forwarding: at('forwarding'),
    requestMethod: at('requestMethod'),
    requestHeaders: at('requestHeaders'),
  };
}

/** Every case that differs from `base` in one dimension. */
export function neighboursOf(base: Case): readonly Case[] {
  return DIMENSION_NAMES.flatMap((name) =>
    (DIMENSIONS[name] as readonly unknown[])
      .filter((value) => value !== base[name])
      // Each value comes from the list of its own dimension.
      .map((value) => ({ ...base, [name]: value }) as Case),
  );
}

export function settingsOfCase(c: Case): Settings {
  return {
    auth: {
      enabled: c.auth,
      api_key: c.key,
      allowed_ips: c.allow,
      blocked_ips: c.block,
      refuse_forwarded: c.refuseForwarded,
    },
    server: { trusted_proxies: c.trusted, cors_origins: c.origins, allowed_hosts: c.hosts },
    features: { enable_dashboard: c.dashboard },
  };
}

function headerTable(c: Case): Record<string, readonly string[]> {
  const table: Record<string, string[]> = {
    host: [...c.host],
    origin: [...c.origin],
    authorization: [...c.authorization],
    'sec-fetch-site': [...c.fetchSite],
    'sec-fetch-mode': [...c.fetchMode],
    'sec-fetch-dest': [...c.fetchDest],
    'sec-fetch-user': [...c.fetchUser],
    'access-control-request-method': [...c.requestMethod],
    'access-control-request-headers': [...c.requestHeaders],
  };
  for (const [name, value] of c.forwarding) table[name] = [...(table[name] ?? []), value];
  return table;
}

/** The request as the HTTP server passes it on; it reads the query's key on the WebSocket route only. */
export function requestOfCase(c: Case): AccessRequest {
  return requestOf({
    remoteAddress: c.peer,
    method: c.method,
    path: c.path,
    isUpgrade: c.upgrade,
    queryKeys: c.path === '/api/ws' ? c.query : [],
    headers: headerTable(c),
  });
}

export interface WireRequest {
  /** The address to connect from; an IPv4 one reaches a dual-stack server as a mapped peer. */
  readonly from: string;
  readonly method: string;
  /** With the query. */
  readonly target: string;
  readonly isUpgrade: boolean;
  /** In order, with repeated names; the sender adds the headers of an upgrade. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The same request as bytes for a socket; undefined when no socket of this machine can send it. */
export function wireOfCase(c: Case): WireRequest | undefined {
  const from = c.peer?.replace('::ffff:', '').replace('0000:0000:0000:0000:0000:ffff:7f00:0001', '127.0.0.1');
  if (from !== '::1' && !from?.startsWith('127.')) return undefined;
  const headers = Object.entries(headerTable(c)).flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );
  const query = c.query.map((value) => `api_key=${encodeURIComponent(value)}`).join('&');
  return {
    from,
    method: c.method,
    target: query === '' ? c.path : `${c.path}?${query}`,
    isUpgrade: c.upgrade,
    headers,
  };
}
