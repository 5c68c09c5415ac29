/** Finds mistakes between keys that are each valid. */
import { describeDigest } from '../../access/key.ts';
import { isPemFile, judgePair } from '../../tls/pair.ts';
import { ROWS } from '../rows/key-table.ts';
import { isSecretFile } from '../rows/row.ts';
import { type Findings, placeOf, type Settings } from './findings.ts';
import { formatPlace } from './problems.ts';

/** The merged settings, and where mistakes in them are reported. */
export interface Merged {
  readonly settings: Settings;
  readonly findings: Findings;
}

/** Keys with files, in the order in which they are judged and their files are read. */
export interface FileGroup {
  /** The keys are those directly below this one; in a map by name, those of each entry. */
  readonly prefix: string;
  /** `key`: the prefix, or the key of an entry. */
  readonly judge: (merged: Merged, key: string) => void;
  /** Judges the contents of the files together. */
  readonly judgeFiles?: (merged: Merged) => void;
}

export const FILE_GROUPS: readonly FileGroup[] = [
  { prefix: 'auth', judge: judgeAuth },
  { prefix: 'auth.keys', judge: () => undefined, judgeFiles: judgeDigests },
  { prefix: 'server.tls', judge: judgeTls, judgeFiles: judgeTlsPair },
  {
    prefix: 'mqtt',
    judge: (merged) => judgeBroker(merged, 'mqtt', 'the password and all commands cross'),
  },
  {
    prefix: 'hub.mqtt',
    judge: (merged) => judgeBroker(merged, 'hub.mqtt', 'the password, all samples and all commands cross'),
  },
  { prefix: 'hub.agents', judge: judgeAgent },
  { prefix: 'hub', judge: judgeDial },
];

/** Adds a problem for a key, if it is set. */
function refuse({ settings, findings }: Merged, key: string, message: string): void {
  const setting = settings.get(key);
  if (setting !== undefined) findings.fail(placeOf(setting), message);
}

const textOf = ({ settings }: Merged, key: string): string => {
  const value = settings.get(key)?.value;
  return typeof value === 'string' ? value : '';
};

function judgeAuth(merged: Merged): void {
  const guests = merged.settings.get('auth.guests')?.value;
  if (Array.isArray(guests) && guests.length === 0 && merged.settings.get('auth.enabled')?.value !== true)
    refuse(
      merged,
      'auth.guests',
      'a client without a key could do nothing although auth.enabled is false; set auth.enabled to true, or allow guests something, such as [read]',
    );
  const other = merged.settings.get('auth.api_key');
  if (other === undefined) return;
  const place = formatPlace(other.file, other.line);
  const message = `cannot be set together with auth.api_key, which is set at ${place}; remove one of the two`;
  refuse(merged, 'auth.api_key_file', message);
}

/** Two keys of one digest are the same key, which would have the scopes of either. */
function judgeDigests({ settings, findings }: Merged): void {
  const seen = new Map<string, string>();
  const apiKey = settings.get('auth.api_key')?.value;
  if (typeof apiKey === 'string') seen.set(describeDigest(apiKey), 'auth.api_key');
  for (const [key, setting] of settings) {
    if (!key.startsWith('auth.keys.')) continue;
    // check-entries.ts has checked it.
    const entry = setting.value as { readonly digest?: string; readonly key_file?: unknown };
    const { digest = isSecretFile(entry.key_file) ? describeDigest(entry.key_file.secret) : '' } = entry;
    const other = seen.get(digest);
    if (other !== undefined) findings.fail(placeOf(setting), `is the same key as ${other}`);
    else if (digest !== '') seen.set(digest, key);
  }
}

const CERT = 'server.tls.cert';
const KEY = 'server.tls.key';
const PORT = 'server.tls.port';
const PLAIN_PORT = 'server.port';

function judgeTls(merged: Merged): void {
  const { settings } = merged;
  const missing = [CERT, KEY].filter((key) => !settings.has(key));
  const given = [CERT, KEY, PORT].find((key) => settings.has(key));
  if (given !== undefined && missing.length > 0)
    refuse(merged, given, `needs ${missing.join(' and ')}; set ${missing.length === 1 ? 'it' : 'them'} too`);
  const plain = settings.get(PLAIN_PORT);
  const port = settings.get(PORT)?.value;
  if (port === 0 || port !== (plain?.value ?? ROWS.get(PLAIN_PORT)?.default)) return;
  const place = plain === undefined ? 'by default' : `at ${formatPlace(plain.file, plain.line)}`;
  refuse(merged, PORT, `${PLAIN_PORT} is ${port} too, ${place}; without ${PORT} that port speaks HTTPS`);
}

function judgeTlsPair(merged: Merged): void {
  const [cert, key] = [CERT, KEY].map((name) => merged.settings.get(name)?.value);
  if (!isPemFile(cert) || !isPemFile(key)) return;
  const pair = { cert, key };
  const { problems, warnings } = judgePair(pair, Date.now());
  for (const { part, message } of problems)
    refuse(merged, `server.tls.${part}`, `${pair[part].path}: ${message}`);
  for (const text of warnings) merged.findings.notices.push({ level: 'warn', text: `${cert.path}: ${text}` });
}

const LOOPBACK = /^(?:mqtt|ws):\/\/(?:localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)/u;

/** Warns where a URL without TLS names another machine. */
function warnOfPlain(merged: Merged, key: string, secure: string, message: string): void {
  const url = textOf(merged, key);
  if (url === '' || url.startsWith(secure) || LOOPBACK.test(url)) return;
  merged.findings.note('warn', `${key}: ${message}`);
}

/** `carried`: what the network would carry unencrypted. */
function judgeBroker(merged: Merged, group: string, carried: string): void {
  const [url, username] = [`${group}.url`, `${group}.username`];
  const [password, ca] = [`${group}.password_file`, `${group}.ca`];
  const { settings } = merged;
  if (!settings.has(username)) refuse(merged, password, `needs ${username}; set it too`);
  if (settings.has(url) && !textOf(merged, url).startsWith('mqtts:'))
    refuse(merged, ca, `is used with TLS only; write mqtts:// in ${url}, or leave it out`);
  if (settings.has(password))
    warnOfPlain(
      merged,
      url,
      'mqtts:',
      `${carried} the network unencrypted; use mqtts:// if the broker has TLS`,
    );
}

function judgeAgent({ settings, findings }: Merged, key: string): void {
  const setting = settings.get(key);
  if (setting === undefined) return;
  // Its row accepted each value.
  const { url, pin } = setting.value as { readonly url?: string; readonly pin?: string };
  if (pin !== undefined && url?.startsWith('https:') !== true)
    findings.fail(placeOf(setting, `${key}.pin`), 'is used with TLS only; write https:// in its url');
}

/** The keys by which this service dials a hub belong together. */
function judgeDial(merged: Merged): void {
  const { settings } = merged;
  if (!settings.has('hub.key_file'))
    refuse(merged, 'hub.url', 'needs hub.key_file; "hostwire keygen" makes the key for that file');
  if (!textOf(merged, 'hub.url').startsWith('wss:'))
    refuse(merged, 'hub.pin', 'is used with TLS only; write wss:// in hub.url');
  warnOfPlain(
    merged,
    'hub.url',
    'wss:',
    'all samples and all commands cross the network unencrypted, and can be changed on their way; use wss:// if the hub has TLS',
  );
  if (!settings.has('hub.url'))
    refuse(merged, 'hub.key_file', 'needs hub.url; the keys of agents are in hub.agents');
}
