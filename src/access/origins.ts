/** Origins of web pages: whether one is listed or the service's own, and the CORS headers for it. */

import { parseAuthority } from './hosts.ts';
import { type AccessRequest, type Decision, valuesOf } from './request.ts';

// A scheme and an authority only, so that an origin can be echoed into a header unchanged.
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i;

/** Maximum length of an origin: host names have 253 characters. URL takes quadratic time for long names in Punycode. */
const MAX_ORIGIN_LENGTH = 1024;

const EXPOSED_HEADERS = 'X-Ignored-Fields, X-Error-Code, X-Media-Delivered, Retry-After';

/** Returns the canonical origin (case, default port, address notation); undefined: not an origin, or `null`. */
export function canonicalOrigin(text: string): string | undefined {
  if (text.length > MAX_ORIGIN_LENGTH || !ORIGIN.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  // Not `url.origin`: that is "null" for the schemes of browser extensions and of apps.
  return `${url.protocol}//${url.host}`;
}

/** Returns the value of the Origin header; undefined if it is absent or repeated. */
export function originOf(request: AccessRequest): string | undefined {
  const values = valuesOf(request, 'origin');
  return values.length === 1 ? values[0] : undefined;
}

export function isListedOrigin(listed: ReadonlySet<string>, origin: string | undefined): boolean {
  const canonical = origin === undefined ? undefined : canonicalOrigin(origin);
  return canonical !== undefined && listed.has(canonical);
}

/**
 * Returns whether the page has the host and port that the request was sent to; a missing port is the scheme's default.
 * `scheme`: that of the request, if it is known; otherwise the page's own.
 */
export function isSameOrigin(origin: string, host: string, scheme?: 'http' | 'https'): boolean {
  const canonical = canonicalOrigin(origin);
  const pageScheme = canonical === undefined ? undefined : /^(https?):/.exec(canonical)?.[1];
  if (pageScheme === undefined || parseAuthority(host) === undefined) return false;
  const own = `${scheme ?? pageScheme}://${host}`;
  return URL.canParse(own) && `${scheme ?? pageScheme}://${new URL(own).host}` === canonical;
}

/** Returns the origin that may read the answer: a listed one, or any if the request has the key. */
export function readerOf(
  listed: ReadonlySet<string>,
  request: AccessRequest,
  isKeyed: boolean,
): string | undefined {
  const origin = originOf(request);
  if (origin === undefined) return undefined;
  if (isListedOrigin(listed, origin)) return origin;
  return isKeyed && isEchoable(origin) ? origin : undefined;
}

/**
 * `null` is the origin of a page from a file or a sandbox: it cannot be listed, but may be used with the key.
 */
function isEchoable(origin: string): boolean {
  return origin === 'null' || ORIGIN.test(origin);
}

export function isPreflight(request: AccessRequest): boolean {
  return (
    request.method === 'OPTIONS' &&
    originOf(request) !== undefined &&
    valuesOf(request, 'access-control-request-method').length > 0
  );
}

/** Returns the headers for a preflight: permission for a listed origin, and for any that will send the key. */
export function preflightHeaders(
  listed: ReadonlySet<string>,
  request: AccessRequest,
): readonly (readonly [name: string, value: string])[] {
  const wanted = valuesOf(request, 'access-control-request-headers').flatMap((value) => value.split(','));
  const asksForKey = wanted.some((name) => name.trim().toLowerCase() === 'authorization');
  const origin = readerOf(listed, request, asksForKey);
  if (origin === undefined) return [['Vary', 'Origin']];
  return [
    ['Access-Control-Allow-Origin', origin],
    ['Vary', 'Origin'],
    ['Access-Control-Allow-Methods', 'GET, HEAD, POST'],
    ['Access-Control-Allow-Headers', 'authorization, content-type, last-event-id'],
    ['Access-Control-Max-Age', '600'],
  ];
}

/** Returns the CORS headers for every answer to this request, including a refusal. */
export function corsHeaders(decision: Decision): readonly (readonly [name: string, value: string])[] {
  if (decision.isPreflight) return decision.headers;
  if (decision.corsOrigin === undefined) return [];
  return [
    ['Access-Control-Allow-Origin', decision.corsOrigin],
    ['Vary', 'Origin'],
    ['Access-Control-Expose-Headers', EXPOSED_HEADERS],
  ];
}
