/** The API key: reads it from its file, and warns of a weak or missing one. */
import type { AddressList } from '../access/addresses.ts';
import type { Findings } from './findings.ts';
import { whyFileNotTrusted } from './owners.ts';
import { formatPlace, type Notice } from './problems.ts';
import { type Ownership, readText } from './read.ts';
import { accepts, KEYS } from './schema.ts';
import { nameFile, pathIn, refuserOf, type Settings } from './setting-files.ts';

/** A key has at most 1024 characters; the rest is a margin. */
const MAX_KEY_BYTES = 4096;

const KEY = 'auth.api_key';
const KEY_FILE = 'auth.api_key_file';

/** The key file that the settings name. */
export interface KeyFile {
  readonly path: string;
  /** Undefined: the file could not be read. */
  readonly owner: Ownership | undefined;
}

/**
 * Reads the file that `auth.api_key_file` names, if any, into the setting `auth.api_key`. `uid`: the service's user;
 * undefined on Windows.
 */
export function resolveKeyFile(
  settings: Settings,
  findings: Findings,
  uid: number | undefined,
): KeyFile | undefined {
  const setting = settings.get(KEY_FILE);
  if (setting === undefined) return undefined;
  const refuseKey = refuserOf(settings, findings);
  const refuse = (message: string): void => refuseKey(KEY_FILE, message);
  const name = nameFile(setting);
  const other = settings.get(KEY);
  if (other !== undefined)
    refuse(
      `cannot be set together with ${KEY}, which is set at ${formatPlace(other.file, other.line)}; remove one of the two`,
    );
  const resolved = pathIn(setting);
  settings.set(KEY_FILE, { ...setting, value: resolved });
  const read = readText(resolved, MAX_KEY_BYTES);
  if ('message' in read) {
    refuse(`${name}: ${read.message}`);
    return { path: resolved, owner: undefined };
  }
  const { owner } = read;
  const reason = whyFileNotTrusted(resolved, owner, uid);
  if (reason !== undefined) refuse(`${name}: ${reason}`);
  const value = read.text.replace(/\r?\n$/u, '');
  const row = KEYS.auth.api_key;
  if (!accepts(row, value))
    refuse(`${name}: expected ${row.expected}, found ${value === '' ? 'nothing' : 'another text'}`);
  settings.set(KEY, { key: KEY, value, file: resolved, line: undefined });
  return { path: resolved, owner };
}

/** A shorter key gets a warning: the contract calls 32 characters sufficient for a home network. */
const MIN_CHARACTERS = 32;

/** Warnings about the key; `values` has dotted keys. */
export function judgeKey(values: ReadonlyMap<string, unknown>): readonly Notice[] {
  const key = values.get(KEY);
  if (typeof key === 'string') {
    if (key.length >= MIN_CHARACTERS) return [];
    const text = `${KEY} has fewer than ${MIN_CHARACTERS} characters; "hostwire keygen" makes a strong one`;
    return [{ level: 'warn', text }];
  }
  if (values.get('auth.enabled') !== true) return [];
  // Only a checked list is set under this key.
  const allowed = values.get('auth.allowed_ips') as AddressList | undefined;
  const hasAddresses = allowed?.entries.some((entry) => entry !== '*') === true;
  const admitted = hasAddresses ? 'only the addresses in auth.allowed_ips' : 'no client';
  const text = `auth.enabled is true and no key is configured, so ${admitted} can connect; "hostwire keygen" makes a key`;
  return [{ level: 'error', text }];
}
