/** Judges a request by the contract's checks, in their order: from the blocked addresses to the web guard. */

import { ALL_SCOPES, type Scope, type Scopes, scopesOf } from '../scopes.ts';
import { type Address, type AddressList, type AddressRules, isEmptyList, matches } from './addresses.ts';
import { type Client, clientOf } from './client.ts';
import { normalizeName, parseAuthority, withLocalSuffixes } from './hosts.ts';
import { apiKeyOf, compileKeys, judgeKey, type Key, type KeyRing, type KeySettings } from './key.ts';
import { canonicalOrigin, isPreflight, preflightHeaders, readerOf } from './origins.ts';
import type { AccessRequest, Decision, Refused } from './request.ts';
import { guardWeb, type WebGuard } from './web-guard.ts';

/** The settings that access depends on, with the names of the configuration. */
export interface AccessSettings {
  readonly auth: {
    readonly enabled: boolean;
    readonly api_key: string | undefined;
    readonly keys: Readonly<Record<string, KeySettings>>;
    /** The scopes of clients without a key; undefined: all. */
    readonly guests: readonly Scope[] | undefined;
    readonly allowed_ips: AddressList;
    readonly blocked_ips: AddressList;
    readonly refuse_forwarded: boolean;
  };
  readonly server: {
    readonly trusted_proxies: AddressList;
    readonly allowed_hosts: readonly string[];
    readonly cors_origins: readonly string[];
  };
  readonly features: { readonly enable_dashboard: boolean };
}

/** Access settings in the form that requests are judged by. */
export interface AccessPolicy {
  readonly isAuthEnabled: boolean;
  readonly keys: KeyRing;
  readonly guests: Scopes;
  readonly allowed: AddressRules;
  readonly blocked: AddressRules;
  readonly trustedProxies: AddressRules;
  readonly refusesForwarded: boolean;
  readonly publicPaths: ReadonlySet<string>;
  /** Public paths with a part that may be any text. */
  readonly publicPatterns: readonly RegExp[];
  /** Paths whose callers authenticate in another way: the rules of addresses apply, a key is not needed. */
  readonly provenPaths: ReadonlySet<string>;
  readonly guard: WebGuard;
}

const STATUS_PATH = '/api/status';
const DASHBOARD_ROOT = '/';

function compileNames<Name>(
  names: readonly string[],
  parse: (text: string) => Name | undefined,
): ReadonlySet<Name> {
  return new Set(names.map(parse).filter((name) => name !== undefined));
}

/**
 * `machineNames`: the machine's short and full host name. `dashboardPaths`: the raw paths of the dashboard's files,
 * public while it is on; `/` always is one. A part `*` stands for any part that is not empty.
 */
export function compileAccess(
  { auth, server, features }: AccessSettings,
  machineNames: readonly string[],
  dashboardPaths: readonly string[] = [],
  provenPaths: readonly string[] = [],
): AccessPolicy {
  const pages = features.enable_dashboard ? [DASHBOARD_ROOT, ...dashboardPaths] : [];
  return {
    isAuthEnabled: auth.enabled,
    keys: compileKeys(apiKeyOf(auth), auth.keys),
    guests: auth.guests === undefined ? ALL_SCOPES : scopesOf(auth.guests),
    allowed: auth.allowed_ips.rules,
    blocked: auth.blocked_ips.rules,
    trustedProxies: server.trusted_proxies.rules,
    refusesForwarded: auth.refuse_forwarded,
    publicPaths: new Set([STATUS_PATH, ...pages]),
    publicPatterns: pages
      .filter((page) => page.includes('*'))
      .map((page) => new RegExp(`^${page.replaceAll('*', '[^/]+')}$`)),
    provenPaths: new Set(provenPaths),
    guard: {
      hosts: new Set([
        ...withLocalSuffixes([...compileNames(machineNames, normalizeName)]),
        ...compileNames(server.allowed_hosts, parseAuthority),
      ]),
      origins: compileNames(server.cors_origins, canonicalOrigin),
    },
  };
}

type Verdict = 'keyed' | 'keyless' | 401 | 403;

/** The contract's steps 3 to 7. */
function judge(policy: AccessPolicy, client: Client, isValid: boolean): Verdict {
  const accepted = isValid ? 'keyed' : 'keyless';
  if (!policy.isAuthEnabled) return accepted;
  const isListed = matches(policy.allowed, client.address);
  if (!isListed && !policy.allowed.hasWildcard && !isEmptyList(policy.allowed)) return 403;
  if (isListed && !(client.isForwarded && policy.refusesForwarded)) return accepted;
  return isValid ? 'keyed' : 401;
}

const PLAIN_REFUSAL = { errorCode: undefined, hint: undefined, isWrongKey: false } as const;

function refuse(
  policy: AccessPolicy,
  request: AccessRequest,
  client: Address | undefined,
  reason: Pick<Refused, 'status' | 'errorCode' | 'hint' | 'isWrongKey'>,
): Refused {
  const corsOrigin = readerOf(policy.guard.origins, request, false);
  return { isAllowed: false, isPreflight: false, client: client?.text, corsOrigin, ...reason };
}

const isPublicPath = (policy: AccessPolicy, path: string): boolean =>
  policy.publicPaths.has(path) || policy.publicPatterns.some((page) => page.test(path));

/** Returns whether requests for `path` are judged differently from those for most others. */
export const isPathJudged = (policy: AccessPolicy, path: string): boolean =>
  isPublicPath(policy, path) || policy.provenPaths.has(path);

/** Judges one request. `nowMs`: Unix time in milliseconds, for keys that expire; nothing else but the arguments is read. */
export function decideAccess(policy: AccessPolicy, request: AccessRequest, nowMs = Date.now()): Decision {
  const client = clientOf(policy.trustedProxies, request);
  if (client === undefined || matches(policy.blocked, client.address)) {
    return refuse(policy, request, client?.address, { status: 403, ...PLAIN_REFUSAL });
  }
  const { origins } = policy.guard;
  const who = client.address.text;
  if (isPreflight(request)) {
    return { isAllowed: true, isPreflight: true, client: who, headers: preflightHeaders(origins, request) };
  }
  const judged = judgeKey(policy.keys, { request, client: client.address, nowMs });
  const key: Key | undefined = typeof judged === 'string' ? undefined : judged;
  const isPublic = isPublicPath(policy, request.path);
  const isValid = key !== undefined;
  const verdict = isPublic ? (isValid ? 'keyed' : 'keyless') : judge(policy, client, isValid);
  const isProven = policy.provenPaths.has(request.path);
  if (verdict === 403 || (verdict === 401 && !isProven)) {
    const isWrongKey = verdict === 401 && judged === 'wrong';
    return refuse(policy, request, client.address, { ...PLAIN_REFUSAL, status: verdict, isWrongKey });
  }
  const isKeyed = verdict === 'keyed';
  const foreign =
    isKeyed || isPublic || isProven ? undefined : guardWeb(policy.guard, request, client.isProxied);
  if (foreign !== undefined) {
    return refuse(policy, request, client.address, { ...foreign, isWrongKey: false });
  }
  const corsOrigin = readerOf(origins, request, isKeyed);
  return {
    isAllowed: true,
    isPreflight: false,
    isKeyed,
    key: key?.name,
    scopes: key?.scopes ?? policy.guests,
    client: who,
    corsOrigin,
  };
}
