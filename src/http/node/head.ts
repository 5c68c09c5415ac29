/** Heads as node:http has them: of requests, of answers, and the answer to bytes that are no request. */
import type { IncomingMessage } from 'node:http';
import { type Answer, headBytes, type RequestHead } from '../head.ts';
import { asksForSocket, UPGRADE_HEADERS } from '../upgrade.ts';

/** A target in absolute form (RFC 9112, 3.2.2): its authority stands for the Host header. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/is;
/** Where `OPTIONS *`, which asks for the server as a whole (RFC 9112, 3.2.4), is answered: it always exists. */
const SERVER_AS_A_WHOLE = '/api/status';

interface Target {
  readonly path: string;
  readonly query: string;
  readonly authority: string | undefined;
}

/** Takes a target apart, without decoding any of it. */
function readTarget(method: string, url: string): Target {
  const [, authority, rest = url] = ABSOLUTE.exec(url) ?? [];
  if (url === '*' && method === 'OPTIONS') return { path: SERVER_AS_A_WHOLE, query: '', authority };
  const mark = rest.indexOf('?');
  const path = mark < 0 ? rest : rest.slice(0, mark);
  return {
    path: authority !== undefined && path === '' ? '/' : path,
    query: mark < 0 ? '' : rest.slice(mark + 1),
    authority,
  };
}

/** Whether bytes of a body follow the head. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined;

function readHeaders(raw: readonly string[], wanted: ReadonlySet<string>): Map<string, string[]> {
  const lists = new Map<string, string[]>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    if (!wanted.has(name)) continue;
    const value = raw[at + 1] ?? '';
    const values = lists.get(name);
    if (values === undefined) lists.set(name, [value]);
    else values.push(value);
  }
  return lists;
}

/** As `asksForSocket`. In HTTP/1.0 an upgrade is ignored (RFC 9110, 7.8). */
export const asksForUpgrade = ({ method = '', httpVersion, rawHeaders }: IncomingMessage): boolean =>
  httpVersion === '1.1' && asksForSocket({ method, headers: readHeaders(rawHeaders, UPGRADE_HEADERS) });

/** An IPv6 address without its zone, which names an interface of this machine. */
export const withoutZone = (address: string): string => address.replace(/%.*$/s, '');

export function readHead(request: IncomingMessage, wanted: ReadonlySet<string>): RequestHead {
  const { method = '', url = '', rawHeaders, socket } = request;
  const { path, query, authority } = readTarget(method, url);
  const headers = readHeaders(rawHeaders, wanted);
  if (authority !== undefined && wanted.has('host')) headers.set('host', [authority]);
  const { remoteAddress } = socket;
  return {
    method,
    path,
    query,
    headers,
    remoteAddress: remoteAddress === undefined ? undefined : withoutZone(remoteAddress),
    isSecure: 'encrypted' in socket,
  };
}

/** A version that Node's parser takes, and that is not spoken here: 0.9 or 2.0. */
export const OTHER_VERSION = 'OTHER_VERSION';

/** OpenSSL's code for a request in plain HTTP. */
export const PLAIN_REQUEST = 'ERR_SSL_HTTP_REQUEST';

/** The errors that are not a mistake in the syntax: of node:http and OpenSSL, and one of ours. */
const FAULTS: Readonly<Record<string, readonly [status: string, sentence: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The head of a request may have 16 KiB.'],
  [OTHER_VERSION]: ['505 HTTP Version Not Supported', 'HTTP/1.1 and HTTP/1.0 are spoken here.'],
  [PLAIN_REQUEST]: ['400 Bad Request', 'This port speaks HTTPS: the address must begin with https://.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
};

/** The bytes of a last answer that is written past node:http. */
export function lastBytes({ status, headers, body = '' }: Answer): Buffer {
  const bytes = Buffer.from(body);
  const end: Answer['headers'] = [
    ['Content-Length', String(bytes.length)],
    ['Connection', 'close'],
  ];
  return Buffer.concat([headBytes(status, [...headers, ...end]), bytes]);
}

/** The last answer on a connection whose bytes are no request. */
export function faultBytes(code: string): Buffer {
  const [status, error] = FAULTS[code] ?? ['400 Bad Request', 'These bytes are not an HTTP request.'];
  const headers: Answer['headers'] = [
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Cache-Control', 'no-store'],
  ];
  return lastBytes({ status, headers, body: JSON.stringify({ error, code: 'bad_request' }) });
}
