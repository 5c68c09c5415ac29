/** A policy and a request that passes it; each test changes what it is about. */
import { compileAccess, decideAccess } from '#src/access/decide.js';
import type { AccessRequest, Decision } from '#src/access/request.js';
import type { Config } from '#src/config/config.js';
import { type ConfigPart, configWith } from '../helpers/fakes/config-parts.ts';

export const KEY = 'correct-horse-battery-staple-0123456789';
export const MACHINE_NAMES = ['pc', 'pc.campus.edu'];

export type Settings = Pick<ConfigPart, 'auth' | 'server' | 'features'>;

export function configOf(settings: Settings): Config {
  return configWith(settings);
}

export type HeaderTable = Readonly<Record<string, string | readonly string[]>>;

export interface RequestChange extends Partial<Omit<AccessRequest, 'headers'>> {
  /** Added to `host: localhost:9990`; an empty list removes a header. */
  readonly headers?: HeaderTable;
}

export function requestOf(change: RequestChange = {}): AccessRequest {
  const table: HeaderTable = { host: 'localhost:9990', ...change.headers };
  const headers = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(table)) {
    const values = typeof value === 'string' ? [value] : value;
    if (values.length > 0) headers.set(name, values);
  }
  return {
    remoteAddress: '192.168.7.20',
    method: 'GET',
    path: '/api/usage',
    isUpgrade: false,
    queryKeys: [],
    ...change,
    headers,
  };
}

export function decide(
  settings: Settings,
  change: RequestChange = {},
  dashboardPaths: string[] = [],
): Decision {
  return decideAccess(compileAccess(configOf(settings), MACHINE_NAMES, dashboardPaths), requestOf(change));
}

/** `keyed`, `keyless`, `preflight`, or the status with its error code: `403 host_not_allowed`. */
export function verdictOf(decision: Decision): string {
  if (!decision.isAllowed) return [decision.status, decision.errorCode].filter(Boolean).join(' ');
  if (decision.isPreflight) return 'preflight';
  return decision.isKeyed ? 'keyed' : 'keyless';
}

export function verdict(
  settings: Settings,
  change: RequestChange = {},
  dashboardPaths: string[] = [],
): string {
  return verdictOf(decide(settings, change, dashboardPaths));
}

export const BEARER = { authorization: `Bearer ${KEY}` };
export const WITH_KEY: Settings = { auth: { enabled: true, api_key: KEY } };

/** Settings with auth on and the key, and these lists. */
export function guarded(auth: Settings['auth'], server: Settings['server'] = {}): Settings {
  return { auth: { enabled: true, api_key: KEY, ...auth }, server };
}
