/** The API key: where it comes from, and what is said about it. */
import path from 'node:path';
import { type Findings, placed, type Setting } from './findings.ts';
import { formatPlace, type Notice } from './problems.ts';
import { readText } from './read.ts';
import { accepts, KEYS } from './schema.ts';

/** A key and its newline, with room to spare. */
const MOST_KEY_BYTES = 4096;

const KEY = 'auth.api_key';
const KEY_FILE = 'auth.api_key_file';

/** What the settings of the key come to. */
export interface KeyFile {
  readonly path: string;
  /** Permission bits; undefined: it could not be read. */
  readonly mode: number | undefined;
}

/** Reads `auth.api_key_file`, where it is set, into the setting `auth.api_key`. */
export function resolveKeyFile(settings: Map<string, Setting>, findings: Findings): KeyFile | undefined {
  const setting = settings.get(KEY_FILE);
  if (setting === undefined) return undefined;
  const { file, line } = setting;
  // No message shows the path: it may be the key itself, written in the wrong place.
  const refuse = (message: string): void => {
    findings.problems.push(placed(file, { line, path: KEY_FILE.split('.'), message }));
  };
  const other = settings.get(KEY);
  if (other !== undefined) refuse(`not together with ${KEY}, set at ${formatPlace(other.file, other.line)}`);
  const resolved = path.resolve(path.dirname(file), String(setting.value));
  settings.set(KEY_FILE, { ...setting, value: resolved });
  const read = readText(resolved, MOST_KEY_BYTES);
  if ('message' in read) {
    refuse(`the file it names: ${read.message}`);
    return { path: resolved, mode: undefined };
  }
  const value = read.text.replace(/\r?\n$/u, '');
  const row = KEYS.auth.api_key;
  if (!accepts(row, value)) refuse(`the file it names: expected ${row.expected}`);
  settings.set(KEY, { key: KEY, value, file: resolved, line: undefined });
  return { path: resolved, mode: read.mode };
}

/** Below this a key gets a warning: the contract calls 32 characters sufficient for a home network. */
const FEWEST_CHARACTERS = 32;

/** What the log must say about key and lists; `values` holds dotted keys. */
export function judgeKey(values: ReadonlyMap<string, unknown>): readonly Notice[] {
  const key = values.get(KEY);
  if (typeof key === 'string') {
    if (key.length >= FEWEST_CHARACTERS) return [];
    const text = `${KEY} has fewer than ${FEWEST_CHARACTERS} characters; "hostwire keygen" makes a good one`;
    return [{ level: 'warn', text }];
  }
  if (values.get('auth.enabled') !== true) return [];
  const allowed = values.get('auth.allowed_ips');
  const addresses = Array.isArray(allowed) ? allowed.filter((entry) => entry !== '*') : [];
  const who = addresses.length > 0 ? 'only the addresses of auth.allowed_ips get in' : 'nobody gets in';
  return [
    { level: 'error', text: `auth.enabled is true and no key is configured: no key can match, ${who}` },
  ];
}
