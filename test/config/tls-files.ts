/** A configuration with a certificate and its key. */
import type { TestPair } from '../helpers/certificates.ts';
import type { Files } from './loading.ts';

export const TLS_CONFIG = 'server:\n  tls:\n    cert: cert.pem\n    key: key.pem\n';

export const filesOf = ({ cert, key }: Pick<TestPair, 'cert' | 'key'>, config = TLS_CONFIG): Files => ({
  'config.yaml': config,
  'cert.pem': cert,
  'key.pem': key,
});
