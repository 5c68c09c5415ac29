/** Files that settings name: where they are, whether they may be used, and what they hold. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../../errors.ts';
import { QUOTAS } from '../../fairness/limits.ts';
import { readCertificates } from '../../tls/certificate.ts';
import { isCertificateAlone, isKeyAlone, type PemFile } from '../../tls/pair.ts';
import { KEYS } from '../rows/key-table.ts';
import type { FileKind, SecretFile } from '../rows/row.ts';
import { whyFileNotTrusted } from './owners.ts';
import { type Ownership, readText } from './read-text.ts';

/** A client that gets a proof can try keys offline, so no guess may succeed. */
const MIN_LONG_KEY_CHARACTERS = 32;

interface Kind {
  readonly holds: 'secret' | 'pem';
  /** Whether others must not be able to read a file with this text. */
  readonly isPrivate: (text: string) => boolean;
  /** Returns why the text, or the secret in it, cannot be used. */
  readonly whyUnusable?: (text: string) => string | undefined;
}

const always = () => true;
const never = () => false;

const KINDS: Readonly<Record<FileKind, Kind>> = {
  // Others may read it, with a warning, as for a configuration file with the key.
  'shared key': { holds: 'secret', isPrivate: never, whyUnusable: whyNoKey },
  key: { holds: 'secret', isPrivate: always, whyUnusable: whyNoKey },
  'long key': { holds: 'secret', isPrivate: always, whyUnusable: whyNoLongKey },
  password: { holds: 'secret', isPrivate: always, whyUnusable: whyNoPassword },
  'signing keys': { holds: 'secret', isPrivate: always, whyUnusable: whyNoSigningKeys },
  // Certificate and key are judged together.
  certificate: { holds: 'pem', isPrivate: never },
  'private key': { holds: 'pem', isPrivate: (text) => !isCertificateAlone(text) },
  // A bundle of all public authorities, some 220 KiB, is too long; without `ca` Node's own is used.
  authorities: { holds: 'pem', isPrivate: never, whyUnusable: whyNoAuthorities },
};

export type NamedFile = { readonly path: string } & (
  | { readonly value: SecretFile | PemFile; readonly owner: Ownership }
  | { readonly message: string }
);

/**
 * Reads the file that `written` names in `source`, a configuration file; a relative path starts at its folder. Only the
 * user `uid` and root may be able to write it; undefined on Windows, where no permissions are judged.
 */
export function readNamedFile(
  kind: FileKind,
  source: string,
  written: string,
  uid: number | undefined,
): NamedFile {
  const { holds, isPrivate, whyUnusable } = KINDS[kind];
  const file = pathIn(source, written);
  const fail = (message: string) => ({
    path: file,
    message: `${nameFile(kind, source, written)}: ${message}`,
  });
  const read = readText(file, holds === 'secret' ? QUOTAS.secretFile.maxBytes : QUOTAS.namedFile.maxBytes);
  if ('message' in read) return fail(read.message);
  const { owner } = read;
  const text = holds === 'secret' ? read.text.replace(/\r?\n$/u, '') : read.text;
  const reason =
    whyFileNotTrusted(file, owner, uid) ??
    (uid !== undefined && (owner.mode & OTHERS_READ) !== 0 && isPrivate(text)
      ? 'can be read by others; run chmod o-r on it'
      : whyUnusable?.(text));
  if (reason !== undefined) return fail(reason);
  return {
    path: file,
    owner,
    value: holds === 'secret' ? { path: file, secret: text } : { path: file, pem: text },
  };
}

/** The permission bit by which others can read a file. */
export const OTHERS_READ = 0o004;

const pathIn = (source: string, written: string) => path.resolve(path.dirname(source), written);

const EXTENSION = /^[\w .~:/\\-]*\.[A-Za-z]{2,8}$/u;

/**
 * Names a file in a message. Its path is left out where nothing is there and it does not look like one: it may be the secret
 * itself, written in place of the name of its file.
 */
function nameFile(kind: FileKind, source: string, written: string): string {
  const file = pathIn(source, written);
  if (kind === 'certificate' || kind === 'private key') return file;
  // `/run` of `/run/secrets/key`: a secret may have slashes, and no folder of such a name exists.
  const [first = ''] = /^[/\\]*[^/\\]+/u.exec(written) ?? [];
  const isInFolder = first.length < written.length && isThere(pathIn(source, first));
  return isInFolder || EXTENSION.test(written) || isThere(file) ? file : 'the file it names';
}

/** Whether a file exists, or cannot be looked at. */
export function isThere(file: string): boolean {
  try {
    lstatSync(file);
    return true;
  } catch (error) {
    return codeOf(error) === 'EACCES';
  }
}

function whyNoKey(key: string): string | undefined {
  const { accepts, expected } = KEYS.auth.api_key;
  if (accepts(key)) return undefined;
  return `expected ${expected}, found ${key === '' ? 'nothing' : 'another text'}`;
}

function whyNoLongKey(key: string): string | undefined {
  const isLong = key.length >= MIN_LONG_KEY_CHARACTERS;
  const reason = `has fewer than ${MIN_LONG_KEY_CHARACTERS} characters; "hostwire keygen" makes a key`;
  return whyNoKey(key) ?? (isLong ? undefined : reason);
}

function whyNoPassword(password: string): string | undefined {
  return password === '' ? 'expected a password, found nothing' : undefined;
}

/** Standard Webhooks: keys of 24 to 64 bytes. */
function whyNoSigningKeys(text: string): string | undefined {
  const bad = text.split(/\r?\n/u).findIndex((line) => !/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/u.test(line));
  return bad === -1
    ? undefined
    : `line ${bad + 1}: expected a key, whsec_ and the base64 of 24 to 64 bytes; "openssl rand -base64 32" makes these`;
}

function whyNoAuthorities(pem: string): string | undefined {
  if (isKeyAlone(pem))
    return 'contains a private key and no certificate; name the certificate of the authority';
  const certificates = readCertificates(pem);
  if (certificates.length === 0)
    return 'contains no certificate in PEM form; name the certificate of the authority';
  const bad = certificates.findIndex((certificate) => certificate instanceof Error);
  return bad === -1
    ? undefined
    : `certificate ${bad + 1} in it cannot be read; name the certificate of the authority`;
}
