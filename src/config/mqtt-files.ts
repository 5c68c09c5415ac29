/** The files of `mqtt` and `hub.mqtt`: reads the password and the authorities, and refuses keys that cannot stand together. */
import { readCertificates } from '../tls/certificate.ts';
import { isKeyAlone, type PemFile } from '../tls/pair.ts';
import type { Findings } from './findings.ts';
import type { SecretFile } from './mqtt-rows.ts';
import { MAX_FILE_BYTES } from './read.ts';
import { nameFile, pathIn, type Refuse, readTrusted, refuserOf, type Settings } from './setting-files.ts';

/** What the keys of a broker begin with, and what a network carries unencrypted without TLS. */
const GROUPS = [
  { group: 'mqtt', carried: 'the password and all commands cross' },
  { group: 'hub.mqtt', carried: 'the password, all samples and all commands cross' },
] as const;

const KEY_INSTEAD = 'contains a private key and no certificate; name the certificate of the authority';

/** As that of a key file. */
const MAX_PASSWORD_BYTES = 4096;
/** A bundle of all public authorities has some 220 KiB; those who need it leave `ca` out. */
const MAX_CA_BYTES = MAX_FILE_BYTES;

/**
 * Reads the files into the settings `password_file` and `ca` of each group, and returns their paths. `uid`: the service's
 * user; undefined on Windows.
 */
export function resolveMqtt(
  settings: Settings,
  findings: Findings,
  uid: number | undefined,
): readonly string[] {
  const refuse = refuserOf(settings, findings);
  return GROUPS.flatMap(({ group, carried }) => {
    judgeKeys(group, settings, refuse);
    warnOfPlainPassword(group, carried, settings, findings);
    return [
      ...readInto(settings, `${group}.password_file`, (file) => readPassword(file, uid), refuse),
      ...readInto(settings, `${group}.ca`, (file) => readAuthorities(file, uid), refuse),
    ];
  });
}

function judgeKeys(group: string, settings: Settings, refuse: Refuse): void {
  const [password, username, ca] = [`${group}.password_file`, `${group}.username`, `${group}.ca`];
  if (settings.has(password) && !settings.has(username)) refuse(password, `needs ${username}; set it too`);
  const url = settings.get(`${group}.url`)?.value;
  if (settings.has(ca) && typeof url === 'string' && !url.startsWith('mqtts:'))
    refuse(ca, `is used with TLS only; write mqtts:// in ${group}.url, or leave it out`);
}

const LOOPBACK = /^mqtt:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?\/?$/u;

function warnOfPlainPassword(
  group: string,
  carried: string,
  settings: Settings,
  { notices }: Findings,
): void {
  const url = settings.get(`${group}.url`)?.value;
  if (!settings.has(`${group}.password_file`) || typeof url !== 'string') return;
  if (url.startsWith('mqtts:') || LOOPBACK.test(url)) return;
  const text = `${group}.url: ${carried} the network unencrypted; use mqtts:// if the broker has TLS`;
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
  if (typeof value === 'string') refuse(key, `${nameFile(setting)}: ${value}`);
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
  if (isKeyAlone(read.text)) return KEY_INSTEAD;
  const certificates = readCertificates(read.text);
  const unreadable = certificates.findIndex((certificate) => certificate instanceof Error);
  if (certificates.length === 0)
    return 'contains no certificate in PEM form; name the certificate of the authority';
  if (unreadable !== -1)
    return `certificate ${unreadable + 1} in it cannot be read; name the certificate of the authority`;
  return { path: file, pem: read.text };
}
