/** `hostwire keys`: the keys of the configuration, and taking one back. */
import { DEFAULT_KEY, endOf } from '../../access/key.ts';
import type { Config } from '../../config/config.ts';
import { type LoadOptions, loadConfig } from '../../config/load.ts';
import { jsonText, type Output, tableOf } from '../output.ts';
import { removeKey } from './key-files.ts';

interface KeyRow {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires: string | null;
  readonly is_expired: boolean;
}

function rowsOf({ auth }: Config, nowMs: number): readonly KeyRow[] {
  const further = Object.entries(auth.keys).map(([name, key]) => ({
    name,
    scopes: key.scopes,
    expires: key.expires ?? null,
    is_expired: endOf(key) <= nowMs,
  }));
  const all = { name: DEFAULT_KEY, scopes: ['admin'], expires: null, is_expired: false };
  return auth.api_key === undefined ? further : [all, ...further];
}

/** Throws a ConfigError where the configuration is wrong. */
export function listKeys(options: LoadOptions, isJson: boolean, nowMs = Date.now()): Output {
  const { config } = loadConfig(options);
  const rows = rowsOf(config, nowMs);
  if (isJson) return { text: jsonText({ keys: rows, guests: config.auth.guests ?? ['admin'] }), exitCode: 0 };
  const table = rows.map(({ name, scopes, expires, is_expired: isExpired }) => [
    name,
    scopes.join(', '),
    isExpired ? `expired ${expires}` : (expires ?? 'does not expire'),
  ]);
  const guests = `clients without a key${config.auth.enabled ? ', from addresses of auth.allowed_ips' : ''}: ${(config.auth.guests ?? ['everything']).join(', ') || 'nothing'}`;
  return { text: `${tableOf(table)}${guests}\n`, exitCode: 0 };
}

/** Exit code 1 where the key is not in the folder of keys. Throws a ConfigError where the configuration is wrong. */
export function takeBack(name: string, options: LoadOptions): Output {
  const { auth } = loadConfig(options).config;
  const files = auth.keys_folder === undefined ? [] : removeKey(auth.keys_folder, name);
  if (files.length > 0)
    return {
      text: `removed ${files.join(', ')}; a running service ends what it has open within a second\n`,
      exitCode: 0,
    };
  const isWritten = Object.hasOwn(auth.keys, name);
  const text = isWritten
    ? `auth.keys of the configuration has the key ${name}: remove it there`
    : `there is no key ${name}`;
  return { text: `${text}\n`, exitCode: 1 };
}
