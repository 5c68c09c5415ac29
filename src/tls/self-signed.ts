/** Creates a self-signed certificate for a machine: on P-256, with all its names. */
import { isIP } from 'node:net';

export interface SelfSigned {
  readonly cert: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
/** Apple's limit for certificates that a user trusts manually; other browsers have none for those. */
const DAYS = 825;

/** Valid from an hour ago, because the clocks of clients may be behind. `names`: host names and addresses. */
export async function makeSelfSigned(names: readonly string[], now: number): Promise<SelfSigned> {
  // Loaded late: only `hostwire keygen --tls` needs it.
  const { generate } = await import('selfsigned');
  const notBeforeDate = new Date(now - 3_600_000);
  const made = await generate([{ name: 'commonName', value: names[0] ?? 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate,
    notAfterDate: new Date(notBeforeDate.getTime() + DAYS * DAY_MS - 1000),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: names.map((name) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name })),
      },
    ],
  });
  return { cert: made.cert, key: made.private };
}
