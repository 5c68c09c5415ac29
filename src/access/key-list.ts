/** The configured keys as people see them: names and terms, without a key or a digest. */
import type { Scope } from '../scopes.ts';
import { apiKeyOf, DEFAULT_KEY, endOf, type KeySettings } from './key.ts';

export interface ListedKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** As the configuration has it; null: it does not expire. */
  readonly expires: string | null;
  readonly is_expired: boolean;
}

/** `auth` of the configuration, as far as it has keys. */
export interface KeyConfig {
  readonly api_key: string | undefined;
  readonly keys: Readonly<Record<string, KeySettings>>;
}

/** That of `auth.api_key` first. `nowMs`: Unix time in milliseconds. */
export function listedKeys(auth: KeyConfig, nowMs: number): readonly ListedKey[] {
  const further = Object.entries(auth.keys).map(([name, key]) => ({
    name,
    scopes: key.scopes,
    expires: key.expires ?? null,
    is_expired: endOf(key) <= nowMs,
  }));
  const all: ListedKey = { name: DEFAULT_KEY, scopes: ['admin'], expires: null, is_expired: false };
  return apiKeyOf(auth) === undefined ? further : [all, ...further];
}
