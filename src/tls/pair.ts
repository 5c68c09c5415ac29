/**
 * Judges a certificate file and a key file before an engine gets them: uWebSockets.js gives no reason when it
 * refuses them, and accepts keys whose handshakes all fail. Pure.
 */
import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { readCertificates, whyNotValid } from './certificate.ts';

/** A PEM file and its content. */
export interface PemFile {
  readonly path: string;
  readonly pem: string;
}

/** The certificate (with its chain) and the key of the service. */
export interface TlsPair {
  readonly cert: PemFile;
  readonly key: PemFile;
}

export interface JudgedPair {
  /** Why the pair cannot be used, by the file at fault. */
  readonly problems: readonly { readonly part: keyof TlsPair; readonly message: string }[];
  /** Warnings about the certificate; the pair can be used. */
  readonly warnings: readonly string[];
}

export function judgePair({ cert, key }: TlsPair, now: number): JudgedPair {
  const chain = readCertificates(cert.pem);
  const privateKey = readKey(key);
  const certProblem = findChainProblem(cert, chain);
  const keyProblem = typeof privateKey === 'string' ? privateKey : findKeyProblem(privateKey);
  const problems = [
    ...(certProblem === undefined ? [] : [{ part: 'cert' as const, message: certProblem }]),
    ...(keyProblem === undefined ? [] : [{ part: 'key' as const, message: keyProblem }]),
  ];
  if (problems.length > 0 || typeof privateKey === 'string') return { problems, warnings: [] };
  // findChainProblem has verified that all are readable, and that there is at least one.
  const certificates = chain as readonly [X509Certificate, ...X509Certificate[]];
  const mismatch = findMismatch(certificates, privateKey, cert.path);
  if (mismatch !== undefined) return { problems: [{ part: 'key', message: mismatch }], warnings: [] };
  return { problems: [], warnings: listWarnings(certificates, now) };
}

const CERTIFICATE = '-----BEGIN CERTIFICATE-----';
const PRIVATE_KEY = 'PRIVATE KEY-----';
const SWAPPED = 'are server.tls.cert and server.tls.key swapped?';

/** Returns whether a file has only the content of a certificate file, and nothing secret. */
export const isCertificateAlone = (pem: string) => pem.includes(CERTIFICATE) && !pem.includes(PRIVATE_KEY);

export const isKeyAlone = (pem: string) => pem.includes(PRIVATE_KEY) && !pem.includes(CERTIFICATE);

function findChainProblem({ pem }: PemFile, chain: readonly (X509Certificate | Error)[]): string | undefined {
  if (isKeyAlone(pem)) return `contains a private key and no certificate; ${SWAPPED}`;
  if (chain.length === 0) return 'contains no certificate in PEM form; name the file of the certificate';
  const bad = chain.findIndex((certificate) => certificate instanceof Error);
  return bad === -1 ? undefined : `certificate ${bad + 1} in it cannot be read; copy the file again`;
}

/** Returns the key, or why it cannot be read. */
function readKey({ path, pem }: PemFile): KeyObject | string {
  if (isCertificateAlone(pem)) return `contains a certificate and no private key; ${SWAPPED}`;
  if (!pem.includes(PRIVATE_KEY)) return 'contains no private key in PEM form; name the file of the key';
  try {
    return createPrivateKey(pem);
  } catch (error) {
    // No other message of a parser is shown: it could quote the key.
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const isEncrypted = code === 'ERR_MISSING_PASSPHRASE' || pem.includes('ENCRYPTED');
    if (isEncrypted) return `is encrypted; write it without a passphrase: openssl pkey -in ${path} -out FILE`;
    return 'contains a private key that cannot be read; copy the file again';
  }
}

const CURVES = new Map([
  ['prime256v1', 'P-256'],
  ['secp384r1', 'P-384'],
  ['secp521r1', 'P-521'],
]);
const MIN_RSA_BITS = 2048;

/** Returns why clients cannot use it: browsers accept no other keys. */
function findKeyProblem({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details,
}: KeyObject): string | undefined {
  if (type === 'ec' && CURVES.has(details?.namedCurve ?? '')) return undefined;
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= MIN_RSA_BITS) return undefined;
  const curves = [...CURVES.values()].join(', ');
  return `contains a key that browsers do not accept; use EC (${curves}), or RSA with at least ${MIN_RSA_BITS} bits`;
}

function findMismatch(
  certificates: readonly [X509Certificate, ...X509Certificate[]],
  key: KeyObject,
  certPath: string,
): string | undefined {
  if (certificates[0].checkPrivateKey(key)) return undefined;
  const index = certificates.findIndex((certificate) => certificate.checkPrivateKey(key));
  return index === -1
    ? `does not match the certificate in ${certPath}; name the key that it was made with`
    : `matches certificate ${index + 1} in ${certPath}; put that one first there`;
}

function listWarnings(certificates: readonly [X509Certificate, ...X509Certificate[]], now: number): string[] {
  const invalid = whyNotValid(certificates[0], now);
  const gap = certificates.findIndex(
    (certificate, index) => index > 0 && certificates[index - 1]?.checkIssued(certificate) === false,
  );
  const order = `certificate ${gap + 1} in it did not issue certificate ${gap}, so some clients reject the chain`;
  return [...(invalid === undefined ? [] : [invalid]), ...(gap === -1 ? [] : [order])];
}

/** Returns whether a value of the configuration is a PEM file. */
export function isPemFile(value: unknown): value is PemFile {
  return typeof value === 'object' && value !== null && 'pem' in value && 'path' in value;
}
