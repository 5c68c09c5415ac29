/** The opening handshake of WebSocket (RFC 6455, 4.2.1), judged the same for every engine. */
import type { HeaderLists, RequestHead } from './head.ts';

/** The headers that `asksForSocket` reads, in lower case. */
export const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['connection', 'upgrade', 'sec-websocket-key']);

/** 16 bytes in Base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;

/** Whether the header, a list that may be spread over several lines (RFC 9110, 5.3), has the element `name`. */
const includes = (headers: HeaderLists, header: string, name: string): boolean =>
  (headers.get(header) ?? [])
    .join()
    .split(',')
    .some((element) => element.trim().toLowerCase() === name);

/**
 * Whether the request asks for a WebSocket, in full except for the version, which its route judges. `Upgrade` may offer
 * other protocols too; `websocket/13` is another protocol, because a version belongs to its name (RFC 9110, 7.8).
 */
export function asksForSocket({ method, headers }: Pick<RequestHead, 'method' | 'headers'>): boolean {
  const keys = headers.get('sec-websocket-key') ?? [];
  return (
    method === 'GET' &&
    includes(headers, 'upgrade', 'websocket') &&
    includes(headers, 'connection', 'upgrade') &&
    keys.length === 1 &&
    KEY.test(keys[0] ?? '')
  );
}
