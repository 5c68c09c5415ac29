/** Reads a certificate: its names, how long it is valid, and the pin of its key. */
import { createHash, X509Certificate } from 'node:crypto';

const BLOCK = /-----BEGIN (X509 |TRUSTED )?CERTIFICATE-----(?:[^-]|-(?!----))*-----END \1?CERTIFICATE-----/gu;

/** Returns the certificates of a PEM text in order, or for each the reason why it cannot be read. */
export function readCertificates(pem: string): readonly (X509Certificate | Error)[] {
  return [...pem.matchAll(BLOCK)].map(([block]) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  });
}

/** Returns `sha256/BASE64` of the SubjectPublicKeyInfo: the same for every certificate of one key. */
export function pinOf({ publicKey }: X509Certificate): string {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return `sha256/${createHash('sha256').update(spki).digest('base64')}`;
}

/** Returns the host names and addresses that it is valid for. */
export function namesOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return [...subjectAltName.matchAll(/(?:DNS|IP Address):([^",\s]+)/gu)].map(([, name = '']) => name);
}

const DAY_MS = 86_400_000;
/** Automatic renewals happen about 30 days before the end, so fewer days mean that one has failed. */
const FEW_DAYS = 14;

/** Returns the days until it expires; negative: since it expired. */
export function daysLeft({ validTo }: X509Certificate, now: number): number {
  return Math.floor((Date.parse(validTo) - now) / DAY_MS);
}

const dayOf = (time: string) => new Date(time).toISOString().slice(0, 10);

/** Returns why clients refuse it at `now`, or will soon; otherwise undefined. The text changes with the reason only. */
export function whyNotValid(certificate: X509Certificate, now: number): string | undefined {
  const { validFrom, validTo } = certificate;
  if (Date.parse(validTo) <= now)
    return `the certificate expired on ${dayOf(validTo)}; clients will reject it`;
  if (Date.parse(validFrom) > now)
    return `the certificate is not valid until ${dayOf(validFrom)}; clients will reject it before then`;
  if (daysLeft(certificate, now) >= FEW_DAYS) return undefined;
  return `the certificate expires on ${dayOf(validTo)}, in less than ${FEW_DAYS} days`;
}
