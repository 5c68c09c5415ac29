/** Certificates for tests: made by the package that `hostwire keygen --tls` uses. */
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { generate } from 'selfsigned';
import type { Test } from 'tap';
import { pinOf } from '#src/tls/certificate.js';
import type { TlsPair } from '#src/tls/pair.js';
import { emptyFolder } from './scope.ts';

export interface TestPair {
  readonly cert: string;
  readonly key: string;
  readonly pin: string;
}

const DAY_MS = 86_400_000;

/** Self-signed or signed by `issuer`; valid from and until days from now. */
export async function makePair({
  name = 'localhost',
  fromDays = -1,
  untilDays = 90,
  issuer,
  isIssuer = false,
  rsaBits,
}: {
  readonly name?: string;
  readonly fromDays?: number;
  readonly untilDays?: number;
  readonly issuer?: TestPair;
  readonly isIssuer?: boolean;
  readonly rsaBits?: number;
} = {}): Promise<TestPair> {
  const now = Date.now();
  const made = await generate([{ name: 'commonName', value: name }], {
    ...(rsaBits === undefined ? { keyType: 'ec', curve: 'P-256' } : { keyType: 'rsa', keySize: rsaBits }),
    algorithm: 'sha256',
    notBeforeDate: new Date(now + fromDays * DAY_MS),
    // A minute more, so that a test that takes long sees the same number of days.
    notAfterDate: new Date(now + untilDays * DAY_MS + 60_000),
    ...(issuer && { ca: issuer }),
    extensions: [
      { name: 'basicConstraints', cA: isIssuer, critical: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: name },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  return { cert: made.cert, key: made.private, pin: pinOf(new X509Certificate(made.cert)) };
}

/** Writes `cert.pem` and `key.pem`, in place. */
export function writePair(folder: string, { cert, key }: Pick<TestPair, 'cert' | 'key'>): void {
  writeFileSync(path.join(folder, 'cert.pem'), cert);
  writeFileSync(path.join(folder, 'key.pem'), key, { mode: 0o600 });
}

/** A self-signed pair in files that the test removes at its end. */
export async function makePairFiles(t: Test): Promise<TlsPair> {
  const folder = emptyFolder(t, 'pair');
  const made = await makePair();
  writePair(folder, made);
  return {
    cert: { path: path.join(folder, 'cert.pem'), pem: made.cert },
    key: { path: path.join(folder, 'key.pem'), pem: made.key },
  };
}
