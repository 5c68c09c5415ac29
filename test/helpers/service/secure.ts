/** The service inside this process with a certificate from files that the test can replace. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { PemFile } from '#src/tls/pair.js';
import { makePair, type TestPair, writePair } from '../certificates.ts';
import { RawConnection } from '../clients/http.ts';
import { fixtureHost } from '../fakes/host.ts';
import { emptyFolder, type Scope } from '../scope.ts';
import { type ConfigPart, type ServiceHere, serveHere } from './service.ts';

export interface SecureService extends ServiceHere {
  readonly folder: string;
  /** The pair that it started with. */
  readonly pair: TestPair;
  /** Writes `pair` to the files, and applies the configuration as a reload does, unchecked. */
  readonly renew: (pair: Pick<TestPair, 'cert' | 'key'>) => void;
  /** A connection over TLS, closed with the test. */
  readonly connect: () => Promise<RawConnection>;
}

/** `hasPlain` false: HTTPS on the only port. */
export async function startSecure(
  t: Scope,
  { server = {}, ...config }: ConfigPart = {},
  hasPlain = true,
  host = fixtureHost(),
): Promise<SecureService> {
  const folder = emptyFolder(t, 'tls');
  const read = (name: string): PemFile => {
    const file = path.join(folder, name);
    return { path: file, pem: readFileSync(file, 'utf8') };
  };
  const configured = (): ConfigPart => ({
    ...config,
    server: {
      ...server,
      tls: { cert: read('cert.pem'), key: read('key.pem'), port: hasPlain ? 0 : undefined },
    },
  });
  const pair = await makePair();
  writePair(folder, pair);
  const service = await serveHere(t, host, configured());
  return {
    ...service,
    folder,
    pair,
    renew: (next) => {
      writePair(folder, next);
      service.reconfigure(configured());
    },
    connect: async () => {
      const connection = await RawConnection.openSecure(service.securePort);
      t.teardown(() => connection.destroy());
      return connection;
    },
  };
}
