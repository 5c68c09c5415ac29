/** The files of `mqtt`: reads the password and the authorities, and refuses keys that cannot stand together. */
import { readCertificates } from '../tls/certificate.ts';
import type { PemFile } from '../tls/pair.ts';
import type { Findings } from './findings.ts';
import type { SecretFile } from './mqtt-rows.ts';
import { MAX_FILE_BYTES } from './read.ts';
import { pathIn, type Refuse, readTrusted, refuserOf, type Settings } from './setting-files.ts';

const URL = 'mqtt.url';
const USERNAME = 'mqtt.username';
const PASSWORD_FILE = 'mqtt.password_file';
const CA = 'mqtt.ca';

/** As that of a key file. */
const MAX_PASSWORD_BYTES = 4096;
/** A bundle of all public authorities has some 220 KiB; those who need it leave `mqtt.ca` out. */
const MAX_CA_BYTES = MAX_FILE_BYTES;

/**
 * Reads the files into the settings `mqtt.password_file` and `mqtt.ca`, and returns their paths. `uid`: the service's
 * user; undefined on Windows.
 */
export function resolveMqtt(
  settings: Settings,
  findings: Findings,
  uid: number | undefined,
): readonly string[] {
  const refuse = refuserOf(settings, findings);
  judgeKeys(settings, refuse);
  warnOfPlainPassword(settings, findings);
  return [
    ...readInto(settings, PASSWORD_FILE, (file) => readPassword(file, uid), refuse),
    ...readInto(settings, CA, (file) => readAuthorities(file, uid), refuse),
  ];
}

function judgeKeys(settings: Settings, refuse: Refuse): void {
  if (settings.has(PASSWORD_FILE) && !settings.has(USERNAME))
    refuse(PASSWORD_FILE, `needs ${USERNAME} as well`);
  const url = settings.get(URL)?.value;
  if (settings.has(CA) && typeof url === 'string' && !url.startsWith('mqtts:'))
    refuse(CA, `is used with TLS only; write mqtts:// in ${URL}, or leave it out`);
}

const LOOPBACK = /^mqtt:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?\/?$/u;

function warnOfPlainPassword(settings: Settings, { notices }: Findings): void {
  const url = settings.get(URL)?.value;
  if (!settings.has(PASSWORD_FILE) || typeof url !== 'string') return;
  if (url.startsWith('mqtts:') || LOOPBACK.test(url)) return;
  const text = `${URL}: the password and all commands cross the network unencrypted; use mqtts:// if the broker has TLS`;
  notices.push({ level: 'warn', text });
}

/** Puts what `read` makes of the file that `key` names into the settings; a text is the reason why there is none. */
function readInto(
  settings: Settings,
  key: string,
  read: (file: string) => PemFile | SecretFile | string,
  refuse: Refuse,
): readonly string[] {
  const setting = settings.get(key);
  if (setting === undefined) return [];
  const file = pathIn(setting);
  const value = read(file);
  // The path is not shown: it may be the password itself.
  if (typeof value === 'string') refuse(key, `the file it names: ${value}`);
  else settings.set(key, { ...setting, value });
  return [file];
}

function readPassword(file: string, uid: number | undefined): SecretFile | string {
  const read = readTrusted(file, { maxBytes: MAX_PASSWORD_BYTES, isSecret: true, uid });
  if ('message' in read) return read.message;
  const secret = read.text.replace(/\r?\n$/u, '');
  return secret === '' ? 'expected a password, found nothing' : { path: file, secret };
}

function readAuthorities(file: string, uid: number | undefined): PemFile | string {
  const read = readTrusted(file, { maxBytes: MAX_CA_BYTES, isSecret: false, uid });
  if ('message' in read) return read.message;
  const certificates = readCertificates(read.text);
  const unreadable = certificates.findIndex((certificate) => certificate instanceof Error);
  if (certificates.length === 0) return 'contains no certificate in PEM form';
  if (unreadable !== -1) return `certificate ${unreadable + 1} in it cannot be read`;
  return { path: file, pem: read.text };
}
