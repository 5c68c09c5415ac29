/** Finds mistakes between keys that are each valid. */
import { describeDigest } from '../../access/key.ts';
import { membersOf } from '../../json.ts';
import { isPemFile, judgePair } from '../../tls/pair.ts';
import { ROWS } from '../rows/key-table.ts';
import { isSecretFile } from '../rows/row.ts';
import { type Findings, placeOf, type Settings } from './findings.ts';
import { formatPlace } from './problems.ts';

const CERT = 'server.tls.cert';
const KEY = 'server.tls.key';
const PORT = 'server.tls.port';
const PLAIN_PORT = 'server.port';

/** A key, another that must be set, or be a URL that begins so, and the message where it is not. */
const NEEDS: readonly (readonly [key: string, needed: string, start: string, message: string])[] = [
  ['mqtt.password_file', 'mqtt.username', '', 'needs mqtt.username; set it too'],
  ['hub.url', 'hub.key_file', '', 'needs hub.key_file; "hostwire keygen" makes the key for that file'],
  ['hub.key_file', 'hub.url', '', 'needs hub.url; the keys of agents are in hub.agents'],
  ['hub.pin', 'hub.url', 'wss:', 'is used with TLS only; write wss:// in hub.url'],
];

/** A URL that carries something unencrypted to another machine, where the other key is set too. */
const PLAIN: readonly (readonly [url: string, secure: string, other: string, message: string])[] = [
  [
    'mqtt.url',
    'mqtts:',
    'mqtt.password_file',
    'the password and all commands cross the network unencrypted; use mqtts:// if the broker has TLS',
  ],
  [
    'hub.url',
    'wss:',
    'hub.url',
    'the key, all samples and all commands cross the network unencrypted, where hub.plain_networks allows it; use wss:// if the hub has TLS',
  ],
];

const PLAIN_BROKER =
  'the password, all samples and all commands cross the network unencrypted; use mqtts:// if the broker has TLS';

const LOOPBACK = /^(?:mqtt|ws):\/\/(?:localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)/u;

/** Whether a URL leads to another machine without TLS. */
const isPlain = (url: unknown, secure: string): boolean =>
  !String(url).startsWith(secure) && !LOOPBACK.test(String(url));

/** Judges the merged settings, with the contents of their files. */
export function judgeBetweenKeys(settings: Settings, findings: Findings): void {
  const textOf = (key: string): string => String(settings.get(key)?.value ?? '');
  /** Adds a problem for a key, if it is set. */
  const refuse = (key: string, message: string) => {
    const setting = settings.get(key);
    if (setting !== undefined) findings.fail(placeOf(setting), message);
  };
  for (const [key, needed, start, message] of NEEDS)
    if (!settings.has(needed) || !textOf(needed).startsWith(start)) refuse(key, message);
  if (settings.has('mqtt.url') && !textOf('mqtt.url').startsWith('mqtts:'))
    refuse('mqtt.ca', 'is used with TLS only; write mqtts:// in mqtt.url, or leave it out');
  for (const [key, secure, other, message] of PLAIN) {
    const value = settings.get(key)?.value ?? [];
    const urls: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (urls.some((url) => isPlain(url, secure)) && settings.has(other))
      findings.note('warn', `${key}: ${message}`);
  }
  for (const { key, value } of settings.values()) {
    if (!key.startsWith('hub.brokers.')) continue;
    const { url, password_file: password } = membersOf(value);
    if (password !== undefined && isPlain(url, 'mqtts:')) findings.note('warn', `${key}: ${PLAIN_BROKER}`);
  }
  const guests = settings.get('auth.guests')?.value;
  if (Array.isArray(guests) && guests.length === 0 && settings.get('auth.enabled')?.value !== true)
    refuse(
      'auth.guests',
      'a client without a key could do nothing although auth.enabled is false; set auth.enabled to true, or allow guests something, such as [read]',
    );
  judgeDigests(settings, findings);
  judgeTls(settings, findings, refuse);
}

/** Two keys of one digest are the same key, which would have the scopes of either. */
function judgeDigests(settings: Settings, findings: Findings): void {
  const seen = new Map<string, string>();
  const apiKey = settings.get('auth.api_key')?.value;
  if (typeof apiKey === 'string') seen.set(describeDigest(apiKey), 'auth.api_key');
  for (const [key, setting] of settings) {
    if (!key.startsWith('auth.keys.')) continue;
    // check-tree.ts has checked it.
    const entry = setting.value as { readonly digest?: string; readonly key_file?: unknown };
    const { digest = isSecretFile(entry.key_file) ? describeDigest(entry.key_file.secret) : '' } = entry;
    const other = seen.get(digest);
    if (other !== undefined) findings.fail(placeOf(setting), `is the same key as ${other}`);
    else if (digest !== '') seen.set(digest, key);
  }
}

function judgeTls(settings: Settings, findings: Findings, refuse: (key: string, message: string) => void) {
  const missing = [CERT, KEY].filter((key) => !settings.has(key));
  const given = [CERT, KEY, PORT].find((key) => settings.has(key));
  if (given !== undefined && missing.length > 0)
    refuse(given, `needs ${missing.join(' and ')}; set ${missing.length === 1 ? 'it' : 'them'} too`);
  const plain = settings.get(PLAIN_PORT);
  const port = settings.get(PORT)?.value;
  if (port !== 0 && port === (plain?.value ?? ROWS.get(PLAIN_PORT)?.default)) {
    const place = plain === undefined ? 'by default' : `at ${formatPlace(plain.file, plain.line)}`;
    refuse(PORT, `${PLAIN_PORT} is ${port} too, ${place}; without ${PORT} that port speaks HTTPS`);
  }
  const [cert, key] = [CERT, KEY].map((name) => settings.get(name)?.value);
  if (!isPemFile(cert) || !isPemFile(key)) return;
  const pair = { cert, key };
  const { problems, warnings } = judgePair(pair, Date.now());
  for (const { part, message } of problems) refuse(`server.tls.${part}`, `${pair[part].path}: ${message}`);
  for (const text of warnings) findings.note('warn', `${cert.path}: ${text}`);
}
