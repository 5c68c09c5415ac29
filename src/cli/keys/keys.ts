/** `hostwire keys`: the keys of the configuration, and taking one back. */
import path from 'node:path';
import { type ListedKey, listedKeys } from '../../access/key-list.ts';
import { ConfigError, formatProblem } from '../../config/checks/problems.ts';
import { type Loaded, type LoadOptions, loadConfig } from '../../config/load.ts';
import { readText } from '../../config/sources/read-text.ts';
import { QUOTAS } from '../../fairness/limits.ts';
import { errorsOf } from '../check.ts';
import { inLine, jsonText, type Output, tableOf } from '../output.ts';
import { removeKey } from './key-files.ts';
import { findLastUses, type LastUses } from './last-uses.ts';

/** In local time, to the minute. */
const timeOf = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' });

function describeUse(name: string, { source, since, uses }: LastUses): string {
  const use = uses.get(name);
  if (use !== undefined) {
    const { at, address, open } = use;
    return open ? `in use by ${address} (${open} open)` : `last used ${timeOf(at)} by ${address}`;
  }
  return source === 'none' ? 'last use unknown' : `not used since ${timeOf(since ?? 0)}`;
}

function jsonOf(key: ListedKey, { source, uses }: LastUses) {
  const use = uses.get(key.name);
  const unused = source === 'service' ? 0 : null;
  return {
    ...key,
    last_use: use === undefined ? null : { at: use.at, address: use.address },
    open: use?.open ?? unused,
  };
}

/** Takes less than 2 s. Rejects with a ConfigError where the configuration is wrong. `findUses`: for tests. */
export async function listKeys(
  options: LoadOptions,
  isJson: boolean,
  nowMs = Date.now(),
  findUses: typeof findLastUses = findLastUses,
): Promise<Output> {
  const { config } = loadConfig(options);
  const { auth } = config;
  const rows = listedKeys(auth, nowMs);
  const found = await findUses(config, options.surroundings.variables);
  if (isJson) {
    const { source, since, reason } = found;
    const keys = rows.map((row) => jsonOf(row, found));
    const report = { keys, guests: auth.guests ?? ['admin'], uses: { source, since, reason } };
    return { text: jsonText(report), exitCode: 0 };
  }
  const table = rows.map(({ name, scopes, expires, is_expired: isExpired }) => [
    name,
    scopes.join(', '),
    isExpired ? `expired ${expires}` : (expires ?? 'does not expire'),
    describeUse(name, found),
  ]);
  const hasAllowed = auth.enabled && auth.allowed_ips.entries.some((entry) => entry !== '*');
  const guests = auth.enabled && !hasAllowed ? [] : (auth.guests ?? ['everything']);
  const from = hasAllowed ? ', from addresses of auth.allowed_ips' : '';
  const others = `clients without a key${from}: ${guests.join(', ') || 'none'}`;
  const note =
    rows.length === 0 || found.reason === null
      ? ''
      : `last use of each key is unknown: ${inLine(found.reason)}\n`;
  return { text: `${tableOf(table)}${others}\n${note}`, exitCode: 0 };
}

/** The folder that a file names which may have an error anywhere. */
const FOLDER_LINE = /^[ \t]*["']?keys_folder["']?\s*:\s*["']?([^"'#,}\r\n]+)/mu;

function findFolder({ keys, problems }: ConfigError): string | undefined {
  if (keys?.folder !== undefined) return keys.folder;
  return problems
    .map(({ file }) => {
      const read = readText(file, QUOTAS.configFile.maxBytes);
      const written = 'text' in read ? FOLDER_LINE.exec(read.text)?.[1]?.trim() : undefined;
      return written === undefined ? undefined : path.resolve(path.dirname(file), written);
    })
    .find((folder) => folder !== undefined);
}

/**
 * Removes first, and then reports errors of the configuration. Exit code 1 where the key is not in the folder of keys; then
 * it throws a ConfigError where the configuration is wrong.
 */
export function takeBack(name: string, options: LoadOptions): Output {
  const loaded = tryLoad(options);
  const folder = loaded instanceof ConfigError ? findFolder(loaded) : loaded.config.auth.keys_folder;
  const files = folder === undefined ? [] : removeKey(folder, name);
  if (files.length > 0) {
    const removed = `removed ${files.join(', ')}; a running service closes its connections within a second`;
    const after = tryLoad(options);
    const errors = after instanceof ConfigError ? after.problems.map(formatProblem) : errorsOf(after);
    const more = errors.length === 0 ? '' : '; the configuration has other errors:';
    return { text: `${[`${removed}${more}`, ...errors].map(inLine).join('\n')}\n`, exitCode: 0 };
  }
  if (loaded instanceof ConfigError) throw loaded;
  const isWritten = Object.hasOwn(loaded.config.auth.keys, name);
  const text = isWritten
    ? `the key ${name} is in auth.keys of the configuration; remove it there`
    : `unknown key ${name}`;
  return { text: `${inLine(text)}\n`, exitCode: 1 };
}

function tryLoad(options: LoadOptions): Loaded | ConfigError {
  try {
    return loadConfig(options);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}
