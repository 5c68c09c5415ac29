/** The web guard: keeps a foreign web page from using the service, without a key, through the owner's browser. */
import { isSafeHost, parseAuthority } from './hosts.ts';
import { canonicalOrigin, isListedOrigin, isSameOrigin, originOf } from './origins.ts';
import { type AccessRequest, type Refused, valuesOf } from './request.ts';

export interface WebGuard {
  /** The machine's own names and `server.allowed_hosts`, normalised. */
  readonly hosts: ReadonlySet<string>;
  /** `server.cors_origins`, canonical. */
  readonly origins: ReadonlySet<string>;
}

export type WebRefusal = Pick<Refused, 'status' | 'errorCode' | 'hint'>;

// Valid both as a member of a JSON object and as a line of YAML.
function serverLine(key: string, value: string): string {
  return `"server": { "${key}": [${JSON.stringify(value)}] }`;
}

function refuseHost(name: string | undefined): WebRefusal {
  const hint =
    name === undefined
      ? 'refused a request whose Host header is not a host name'
      : `refused the host name ${name}; if it is this machine's, add ${serverLine('allowed_hosts', name)}`;
  return { status: 403, errorCode: 'host_not_allowed', hint };
}

function originHint(origin: string | undefined): string {
  if (origin === undefined)
    return 'refused a request from another web site with no Origin header, or several';
  if (origin === 'null')
    return 'refused a request from the origin null, which cannot be listed; the page must send the key';
  const canonical = canonicalOrigin(origin);
  if (canonical === undefined) return 'refused a request whose Origin header is not an origin';
  return `refused a web page from ${canonical}; if it is yours, add ${serverLine('cors_origins', canonical)}`;
}

function refuseOrigin(origin: string | undefined): WebRefusal {
  return { status: 403, errorCode: 'origin_not_allowed', hint: originHint(origin) };
}

/** Returns whether the header was sent once, with this value. */
function isSentAs(request: AccessRequest, name: string, value: string): boolean {
  const values = valuesOf(request, name);
  return values.length === 1 && values[0]?.trim().toLowerCase() === value;
}

/**
 * The owner followed a link of another site; only the owner sees the answer. All other requests of another site's page
 * are refused, including reads: the page could not read the answer, but it could measure how long it takes, and so
 * learn what runs here. That includes navigations of frames, of embedded objects, and of windows by a script without a
 * click.
 */
function isLinkFollowed(request: AccessRequest): boolean {
  return (
    request.method === 'GET' &&
    !request.isUpgrade &&
    isSentAs(request, 'sec-fetch-mode', 'navigate') &&
    isSentAs(request, 'sec-fetch-dest', 'document') &&
    isSentAs(request, 'sec-fetch-user', '?1')
  );
}

function isForeignFetch(value: string): boolean {
  return ['cross-site', 'same-site'].includes(value.trim().toLowerCase());
}

/** Returns the last element of a list that proxies append to: the others may be forged. */
function lastElement(request: AccessRequest, name: string): string | undefined {
  return valuesOf(request, name).join(',').split(',').at(-1)?.trim() || undefined;
}

function schemeOf(request: AccessRequest): 'http' | 'https' | undefined {
  const scheme = lastElement(request, 'x-forwarded-proto')?.toLowerCase();
  return scheme === 'http' || scheme === 'https' ? scheme : undefined;
}

/** Judges a request without a valid key; undefined: it may pass. `isProxied`: its peer is a trusted proxy. */
export function guardWeb(
  guard: WebGuard,
  request: AccessRequest,
  isProxied: boolean,
): WebRefusal | undefined {
  const hosts = valuesOf(request, 'host');
  const [asked] = hosts;
  if (hosts.length !== 1 || asked === undefined || asked === '') {
    return { status: 400, errorCode: undefined, hint: undefined };
  }
  const host = (isProxied ? lastElement(request, 'x-forwarded-host') : undefined) ?? asked;
  // Both are checked: a proxy that does not set X-Forwarded-Host forwards the value that a page with a
  // rebound name has set.
  for (const each of [asked, host]) {
    const name = parseAuthority(each);
    if (name === undefined || !isSafeHost(guard.hosts, name)) return refuseHost(name);
  }

  const origin = originOf(request);
  if (isListedOrigin(guard.origins, origin)) return undefined;
  const hasOrigin = valuesOf(request, 'origin').length > 0;
  const scheme = (isProxied ? schemeOf(request) : undefined) ?? request.scheme;
  const isOwn = origin !== undefined && isSameOrigin(origin, host, scheme);
  if (hasOrigin && !isOwn) return refuseOrigin(origin);
  const isForeign = valuesOf(request, 'sec-fetch-site').some(isForeignFetch);
  return isForeign && !isLinkFollowed(request) ? refuseOrigin(origin) : undefined;
}
