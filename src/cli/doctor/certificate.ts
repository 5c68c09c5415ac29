/** The row about the certificate: its names, how long it is valid, and the pin of its key. */
import type { Config } from '../../config/config.ts';
import type { Finding } from '../../host/finding.ts';
import { daysLeft, namesOf, pinOf, readCertificates, whyNotValid } from '../../tls/certificate.ts';
import { partly, works } from './rows.ts';

/** No row without TLS. The configuration has a pair only if it can be used. */
export function judgeCertificate({ server }: Pick<Config, 'server'>, now: number): readonly Finding[] {
  const [certificate] = readCertificates(server.tls.cert?.pem ?? '');
  if (certificate === undefined || certificate instanceof Error) return [];
  const days = Math.max(0, daysLeft(certificate, now));
  const names = namesOf(certificate).join(', ') || 'no name';
  const source = `for ${names}; ${days} days left; pin ${pinOf(certificate)}`;
  const reason = whyNotValid(certificate, now);
  if (reason === undefined) return [works('certificate', source)];
  const remedy =
    'renew it (a new pair is loaded without a restart); "hostwire keygen --tls" creates a self-signed one';
  return [partly('certificate', source, { reason, remedy })];
}
