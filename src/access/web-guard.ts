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

// Valid as a member of a JSON object and as a line of YAML.
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

function changesState(request: AccessRequest): boolean {
  return request.isUpgrade || !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
}

function isForeignFetch(value: string): boolean {
  return ['cross-site', 'same-site'].includes(value.trim().toLowerCase());
}

/** Judges a request without a valid key; undefined: it may pass. */
export function guardWeb(guard: WebGuard, request: AccessRequest): WebRefusal | undefined {
  const hosts = valuesOf(request, 'host');
  const [host] = hosts;
  if (hosts.length !== 1 || host === undefined || host === '') {
    return { status: 400, errorCode: undefined, hint: undefined };
  }
  const name = parseAuthority(host);
  if (name === undefined || !isSafeHost(guard.hosts, name)) return refuseHost(name);
  if (!changesState(request)) return undefined;

  const origin = originOf(request);
  if (isListedOrigin(guard.origins, origin)) return undefined;
  const hasOrigin = valuesOf(request, 'origin').length > 0;
  const isOwn = origin !== undefined && isSameOrigin(origin, host);
  if (hasOrigin && !isOwn) return refuseOrigin(origin);
  if (valuesOf(request, 'sec-fetch-site').some(isForeignFetch)) return refuseOrigin(origin);
  return undefined;
}
