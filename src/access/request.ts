/** The input and the result of an access decision. */
import type { Scopes } from '../scopes.ts';

/**
 * A request with one of these headers was forwarded by a proxy. Several are set by a single product; if one were
 * missing here, that product on an allowed address would give all its clients access.
 */
export const FORWARDING_HEADERS: readonly string[] = [
  'forwarded',
  'via',
  'x-forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-scheme',
  'x-forwarded-server',
  'x-forwarded-by',
  'x-original-forwarded-for',
  'x-original-host',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
];

/** Every header that a decision depends on, in lower case. */
export const ACCESS_HEADERS: readonly string[] = [
  'host',
  'origin',
  'authorization',
  'sec-fetch-site',
  'sec-fetch-mode',
  'sec-fetch-dest',
  'sec-fetch-user',
  'access-control-request-method',
  'access-control-request-headers',
  ...FORWARDING_HEADERS,
];

export interface AccessRequest {
  /** The peer's address as text (`::ffff:1.2.3.4` possible); undefined or empty: unknown. */
  readonly remoteAddress: string | undefined;
  /** Upper case. */
  readonly method: string;
  /** The raw bytes before `?`, not decoded. */
  readonly path: string;
  /** The request asks for a WebSocket. */
  readonly isUpgrade: boolean;
  /** Set if this service handles TLS itself. Undefined: plain HTTP, with or without a proxy that terminates TLS. */
  readonly scheme?: 'https' | undefined;
  /** Lower-case names (those of ACCESS_HEADERS), each with its values in order of arrival. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** The values of `api_key` in the query, decoded; given for the WebSocket route only, otherwise empty. */
  readonly queryKeys: readonly string[];
}

interface Judged {
  /** The client's canonical address; undefined when it is unknown. */
  readonly client: string | undefined;
}

interface Answerable extends Judged {
  /** The origin that may read the answer. */
  readonly corsOrigin: string | undefined;
}

export interface Allowed extends Answerable {
  readonly isAllowed: true;
  readonly isPreflight: false;
  readonly isKeyed: boolean;
  /** The name of the key; undefined: it sent no valid one. */
  readonly key: string | undefined;
  readonly scopes: Scopes;
  readonly client: string;
}

/** Answered immediately with 204 and these headers. */
export interface Preflight extends Judged {
  readonly isAllowed: true;
  readonly isPreflight: true;
  readonly client: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Answered immediately with this status, without a body. */
export interface Refused extends Answerable {
  readonly isAllowed: false;
  readonly isPreflight: false;
  readonly status: 400 | 401 | 403;
  /** For `X-Error-Code`. */
  readonly errorCode: 'origin_not_allowed' | 'host_not_allowed' | undefined;
  /** A sentence for the log, with the line to add to the configuration if that would help. */
  readonly hint: string | undefined;
  /** A wrong key was sent; false when none was sent. */
  readonly isWrongKey: boolean;
}

export type Decision = Allowed | Preflight | Refused;

/** Returns the values of a header; empty when it was not sent. */
export function valuesOf(request: AccessRequest, name: string): readonly string[] {
  return request.headers.get(name) ?? [];
}
