/** `hostwire keygen`: a new API key; with --tls a private key and a self-signed certificate, in files of their own. */
import { randomBytes, X509Certificate } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isHostName } from '../config/rows/forms.ts';
import { namesOf, pinOf } from '../tls/certificate.ts';
import { makeSelfSigned } from '../tls/self-signed.ts';
import type { CertificateWords } from './arguments.ts';
import type { Output } from './output.ts';

export interface CertificateFacts {
  /** The machine's host names. */
  readonly names: readonly string[];
  /** A relative `--out` starts here; without one the files are written here. */
  readonly cwd: string;
  readonly isRoot: boolean;
}

const KEY_NAME = 'tls-key.pem';
const CERT_NAME = 'tls-cert.pem';

/** 64 hex characters (256 random bits) and a newline. */
export const generateKey = (): Output => ({ text: `${randomBytes(32).toString('hex')}\n`, exitCode: 0 });

/** Existing files are never overwritten: in that case, and on any other failure, no file is left behind. */
export async function generateCertificate(words: CertificateWords, facts: CertificateFacts): Promise<Output> {
  const folder = path.resolve(facts.cwd, words.folder ?? '');
  const files = { key: path.join(folder, KEY_NAME), cert: path.join(folder, CERT_NAME) };
  const pair = await makeSelfSigned(listNames(facts.names, words.names), Date.now());
  const written: string[] = [];
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    for (const [part, mode] of [
      ['key', 0o600],
      ['cert', 0o644],
    ] as const) {
      writeFileSync(files[part], pair[part], { flag: 'wx', mode });
      written.push(files[part]);
    }
  } catch (error) {
    for (const file of written) rmSync(file, { force: true });
    const reason = error instanceof Error && 'code' in error ? error.code : undefined;
    const what =
      reason === 'EEXIST' ? 'already exists and is not overwritten' : `cannot be written: ${reason}`;
    const file = written.length === 0 ? files.key : files.cert;
    return { text: `${file} ${what}\n`, exitCode: 1 };
  }
  return { text: describe(files, pair.cert, facts.isRoot), exitCode: 0 };
}

function listNames(machineNames: readonly string[], given: readonly string[]): readonly string[] {
  const own = machineNames.flatMap((name) => {
    const [short = name] = name.split('.');
    return short === 'localhost' ? [] : [name, short, `${short}.local`];
  });
  return [...new Set([...own.filter(isHostName), 'localhost', '127.0.0.1', '::1', ...given])];
}

function describe(
  files: { readonly key: string; readonly cert: string },
  pem: string,
  isRoot: boolean,
): string {
  const certificate = new X509Certificate(pem);
  const lines = [
    `Key:          ${files.key} (readable only by its owner)`,
    `Certificate:  ${files.cert}`,
    `Names:        ${namesOf(certificate).join(', ')}`,
    `Valid until:  ${new Date(certificate.validTo).toISOString().slice(0, 10)}`,
    `Pin:          ${pinOf(certificate)}`,
    '',
    'For the configuration:',
    '',
    'server:',
    '  tls:',
    `    cert: ${JSON.stringify(files.cert)}`,
    `    key: ${JSON.stringify(files.key)}`,
    ...(isRoot ? ['', `If the service runs as another user: chown USER ${files.key}`] : []),
  ];
  return `${lines.join('\n')}\n`;
}
