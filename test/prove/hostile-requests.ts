/** The kinds of hostile and failing requests of the proof hostile-log. */

export interface HostileRequest {
  /** The address to send from. */
  readonly from: string;
  readonly bytes: string;
}

export interface HostileKind {
  readonly name: string;
  /** The `n`-th of them; those of one kind differ, so that none is left out because it was seen before. */
  readonly make: (n: number) => HostileRequest;
  /** The status of every answer: it shows that the request was understood as meant. */
  readonly expects: RegExp;
}

/** Networks of clients: admitted without a key, the same for WebSockets, admitted with a key, and blocked. */
export const ADMITTED = '127.0.1';
export const TALKING = '127.0.4';
const KEYED = '127.0.2';
export const BLOCKED = '127.0.66';

const address = (network: string, n: number) => `${network}.${1 + (n % 250)}`;

function request(line: string, headers: readonly string[] = [], body = ''): string {
  const own = headers.some((header) => /^host:/i.test(header)) ? headers : ['Host: localhost', ...headers];
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [`${line} HTTP/1.1`, ...own, ...length, '', body].join('\r\n');
}

const post = (path: string, body: string, headers: readonly string[] = []) =>
  request(`POST ${path}`, ['Content-Type: application/json', ...headers], body);

const SOCKET = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

function kind(name: string, expects: RegExp, make: (n: number) => string, network = ADMITTED): HostileKind {
  return { name, expects, make: (n) => ({ from: address(network, n), bytes: make(n) }) };
}

export const KINDS: readonly HostileKind[] = [
  kind('wrong key', /^401$/, (n) => request('GET /api/usage', [`Authorization: Bearer wrong-${n}`]), KEYED),
  kind('no key', /^401$/, (n) => request(`POST /api/pw/shutdown?${n}`), KEYED),
  kind('blocked address', /^403$/, (n) => request(`GET /api/usage?${n}`), BLOCKED),
  kind('forwarded past the allow list', /^401$/, (n) =>
    request('GET /api/usage', [`X-Forwarded-For: 192.0.2.${n % 256}`]),
  ),
  kind('host of somebody else', /^403$/, (n) => request('GET /api/usage', [`Host: host-${n}.example.org`])),
  kind('rebinding name', /^403$/, (n) => request('GET /api/processes', [`Host: portal-${n}.lan:9990`])),
  kind('two hosts', /^400$/, (n) => request('GET /api/usage', ['Host: localhost', `Host: other-${n}`])),
  kind('cross-site command', /^403$/, (n) =>
    post('/api/media/control', '{"action":"next"}', [`Origin: https://page-${n}.example.org`]),
  ),
  kind('cross-site by its metadata', /^403$/, (n) =>
    post('/api/pw/sleep', `{"delay":${n}}`, ['Sec-Fetch-Site: cross-site']),
  ),
  kind('malformed head', /^(?:400|505)$/, (n) => `G\u0001T /${n} HTTP/1.1\r\nHost localhost\r\n\r\n`),
  kind('head beyond 16 KiB', /^431$/, (n) => request('GET /', [`X-Long: ${'x'.repeat(20_000)}${n}`])),
  kind(
    'TLS on a plain port',
    /^(?:400|505)$/,
    (n) => `\u0016\u0003\u0001\u0002\u0000\u0001${'y'.repeat(n % 50)}\r\n\r\n`,
  ),
  kind('oversized body', /^413$/, (n) =>
    post('/api/media/control', `{"action":"${'z'.repeat(20_000)}${n}"}`),
  ),
  kind('two framings', /^400$/, (n) =>
    request('POST /api/media/control', ['Transfer-Encoding: gzip, chunked', `Content-Length: ${n % 9}`]),
  ),
  kind('unknown route', /^404$/, (n) => request(`GET /wp-admin/${n}%1b[31m.php?%0d%0a=${n}`)),
  kind('unknown method', /^405$/, (n) => request(`DELETE /api/usage?${n}`)),
  kind('bad JSON', /^400$/, (n) => post('/api/media/control', `{"action": "${n}`)),
  kind('unknown media action', /^400$/, (n) => post('/api/media/control', `{"action":"explode-${n}"}`)),
  kind('media without a player', /^501$/, (n) =>
    post('/api/media/control', `{"action":"seek","value":${n}}`),
  ),
  kind('denied power command', /^403$/, (n) => request(`POST /api/pw/restart?${n}`)),
  kind('bad power command', /^400$/, (n) => post(`/api/pw/sleep?delay=-${n}`, '{}')),
  kind('protected process', /^409$/, () => post('/api/processes/kill', '{"pid":1}')),
  kind('process that does not exist', /^404$/, (n) =>
    post('/api/processes/kill', `{"pid":${2 ** 30 + (n % 1000)}}`),
  ),
  kind('app that is not configured', /^404$/, (n) => post('/api/processes/launch', `{"app":"app-${n}"}`)),
  kind('refused upgrade', /^403$/, (n) =>
    request('GET /api/ws', [...SOCKET, `Origin: https://page-${n}.example.org`]),
  ),
  kind('malformed upgrade', /^426$/, (n) => request('GET /api/ws', [...SOCKET.slice(0, 3), `X-N: ${n}`])),
  kind('too many streams', /^503$/, (n) => request(`GET /api/stream?fields=cpu,${n}`)),
];

/** Messages of one WebSocket, each wrong in its own way. */
export const MESSAGES: readonly ((n: number) => string)[] = [
  (n) => `{"op": ${n}`,
  (n) => `{"op": "explode-${n}"}`,
  (n) => `{"op": "media", "data": {"action": "explode-${n}"}}`,
  () => '{"op": "power", "data": {"action": "restart"}}',
  () => '{"op": "process_kill", "data": {"pid": 1}}',
  (n) => `{"op": "process_launch", "data": {"app": "app-${n}"}}`,
  (n) => `{"op": "subscribe", "data": {"topics": ["topic-${n}"]}}`,
  (n) => `{"op": "get", "data": {"topics": ${n}}}`,
];
