/** The certificate of `hostwire keygen --tls`, and what makes each client trust it by its own documented means. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import type { Test } from 'tap';
import { emptyFolder } from '../../helpers/scope.ts';
import { type ConfigPart, runToEnd } from '../../helpers/service/service.ts';

export interface Certificate {
  readonly tls: NonNullable<NonNullable<ConfigPart['server']>['tls']>;
  /** The pin that keygen printed, in base64. */
  readonly pin: string;
  /** Environment of the programs: Python's ssl, httpx and Go; requests; curl; Node. */
  readonly env: Readonly<
    Record<'SSL_CERT_FILE' | 'REQUESTS_CA_BUNDLE' | 'CURL_CA_BUNDLE' | 'NODE_EXTRA_CA_CERTS', string>
  >;
  /** A key store with the certificate, for Java. */
  readonly keyStore: string;
}

export const KEY_STORE_PASSWORD = 'hostwire';

export async function makeCertificate(t: Pick<Test, 'teardown'>): Promise<Certificate> {
  const folder = emptyFolder(t, 'tls');
  const { stdout } = await runToEnd(['keygen', '--tls', '--out', folder]);
  const [cert, key, keyStore] = ['tls-cert.pem', 'tls-key.pem', 'trusted.p12'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string];
  const words = ['-importcert', '-noprompt', '-alias', 'hostwire', '-file', cert];
  const where = ['-keystore', keyStore, '-storepass', KEY_STORE_PASSWORD];
  const { status, stderr } = spawnSync('keytool', [...words, ...where]);
  if (status !== 0) throw new Error(`keytool: ${stderr}`);
  return {
    // In a file both are paths.
    tls: { cert, key } as unknown as Certificate['tls'],
    pin: /sha256\/(\S+)/.exec(stdout)?.[1] ?? '',
    env: {
      SSL_CERT_FILE: cert,
      REQUESTS_CA_BUNDLE: cert,
      CURL_CA_BUNDLE: cert,
      NODE_EXTRA_CA_CERTS: cert,
    },
    keyStore,
  };
}
