/** The key files of `hub.agents` and `hub.key_file`: reads the keys, and refuses what cannot stand together. */
import { type Findings, placed } from './findings.ts';
import { accepts, KEYS } from './schema.ts';
import { nameFile, pathIn, readTrusted, refuserOf, type Settings } from './setting-files.ts';

const AGENTS = 'hub.agents.';
/** Whoever gets a proof can try keys: no guess may succeed. */
const MIN_DIAL_CHARACTERS = 32;
/** As that of `auth.api_key_file`. */
const MAX_KEY_BYTES = 4096;

/** An entry as judgeEntries leaves it. */
interface WrittenAgent {
  readonly url?: string;
  readonly dials_in?: boolean;
  readonly key_file?: string;
  readonly pin?: string;
}

/**
 * Reads the key of each agent into its entry, and returns the paths of the files. `uid`: the service's user; undefined on
 * Windows.
 */
export function resolveAgents(
  settings: Settings,
  findings: Findings,
  uid: number | undefined,
): readonly string[] {
  const files: string[] = [];
  for (const [key, setting] of settings) {
    if (!key.startsWith(AGENTS)) continue;
    // judgeEntries has checked it.
    const agent = setting.value as WrittenAgent;
    const refuse = (name: string, message: string): void => {
      const path = ['hub', 'agents', key.slice(AGENTS.length), name];
      findings.problems.push(placed(setting.file, { line: setting.line, path, message }));
    };
    if (agent.pin !== undefined && agent.url?.startsWith('https:') !== true)
      refuse('pin', 'is used with TLS only; write https:// in its url');
    if (agent.key_file === undefined) continue;
    const file = pathIn({ ...setting, value: agent.key_file });
    files.push(file);
    const secret = readKey(file, uid, agent.dials_in === true ? MIN_DIAL_CHARACTERS : 0);
    if (typeof secret !== 'string')
      refuse('key_file', `${nameFile({ ...setting, value: agent.key_file })}: ${secret.message}`);
    else settings.set(key, { ...setting, value: { ...agent, key_file: { path: file, secret } } });
  }
  return files;
}

/**
 * Reads the key of `hub.key_file` into its setting, and returns the paths of the files. The keys by which this service dials
 * a hub stand together, and are of no use to a hub.
 */
export function resolveDial(
  settings: Settings,
  findings: Findings,
  uid: number | undefined,
): readonly string[] {
  const refuse = refuserOf(settings, findings);
  const [url, keyFile, pin] = ['hub.url', 'hub.key_file', 'hub.pin'].map((key) => settings.get(key));
  const isSecure = typeof url?.value === 'string' && url.value.startsWith('wss:');
  if (url !== undefined && keyFile === undefined)
    refuse('hub.url', 'needs hub.key_file; "hostwire keygen" makes the key for that file');
  if (pin !== undefined && !isSecure) refuse('hub.pin', 'is used with TLS only; write wss:// in hub.url');
  if (url !== undefined) warnOfPlain(url.value, findings);
  if (keyFile === undefined) return [];
  if (url === undefined) refuse('hub.key_file', 'needs hub.url; the keys of agents are in hub.agents');
  const file = pathIn(keyFile);
  const secret = readKey(file, uid, MIN_DIAL_CHARACTERS);
  if (typeof secret !== 'string') refuse('hub.key_file', `${nameFile(keyFile)}: ${secret.message}`);
  else settings.set('hub.key_file', { ...keyFile, value: { path: file, secret } });
  return [file];
}

const LOOPBACK = /^ws:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)/u;

function warnOfPlain(url: unknown, { notices }: Findings): void {
  if (typeof url !== 'string' || url.startsWith('wss:') || LOOPBACK.test(url)) return;
  const text =
    'hub.url: all samples and all commands cross the network unencrypted, and can be changed on their way; use wss:// if the hub has TLS';
  notices.push({ level: 'warn', text });
}

function readKey(
  file: string,
  uid: number | undefined,
  minCharacters: number,
): string | { readonly message: string } {
  const read = readTrusted(file, { maxBytes: MAX_KEY_BYTES, isSecret: true, uid });
  if ('message' in read) return read;
  const key = read.text.replace(/\r?\n$/u, '');
  const row = KEYS.auth.api_key;
  if (!accepts(row, key))
    return { message: `expected ${row.expected}, found ${key === '' ? 'nothing' : 'another text'}` };
  return key.length >= minCharacters
    ? key
    : { message: `has fewer than ${minCharacters} characters; "hostwire keygen" makes a key` };
}
