/** The configured keys as people see them: names and terms, without a key or a digest. */
import { allows, NO_SCOPES, type Scope, scopesOf } from '../scopes.ts';
import type { AddressList } from './addresses.ts';
import { type ExposureSettings, SWITCHES } from './exposure.ts';
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

/**
 * Lists why keys let no client in, or allow less than their scopes say. `features`: undefined for a hub, whose machines have
 * flags of their own. `nowMs`: Unix time in milliseconds.
 */
export function describeKeys(
  auth: KeyConfig & ExposureSettings['auth'] & { readonly allowed_ips: AddressList },
  features: ExposureSettings['features'] | undefined,
  nowMs: number,
): readonly string[] {
  const keys = listedKeys(auth, nowMs);
  const { entries } = auth.allowed_ips;
  const off = SWITCHES.map(([, operation]) => operation).filter(
    ({ feature }) => feature && features?.[feature] === false,
  );
  const texts = keys.flatMap(({ name, scopes }) => {
    const held = scopes.includes('admin') ? NO_SCOPES : scopesOf(scopes);
    const without = off.filter(({ scope }) => allows(held, scope));
    const words = without.map(({ scope, feature }) => `${scope} (features.${feature} is false)`);
    return words.length === 0 ? [] : [`the key ${name} cannot use ${words.join(', ')}`];
  });
  if (auth.enabled && Object.keys(auth.keys).length > 0 && !/^$|\*|\/0\b/.test(entries.join(' ')))
    texts.push(
      'auth.allowed_ips has no "*", so a client at any other address is refused, with a key too; add "*" to let it in with its key',
    );
  const ends = () => keys.map(({ name, expires }) => `${name}: ${expires}`).join(', ');
  if (keys.length > 0 && keys.every((key) => key.is_expired))
    texts.push(`every key has expired (${ends()}); "hostwire pair" makes another`);
  return texts;
}
