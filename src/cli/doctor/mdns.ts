/** The row about mDNS, if it is enabled. */
import { isLoopback } from '../../access/exposure.ts';
import type { Config } from '../../config/config.ts';
import type { Finding } from '../../host/finding.ts';
import { partly } from './rows.ts';

/** `native`: the row of the addon, on the responder. Pure. */
export function judgeMdns(native: Finding, { host }: Pick<Config['server'], 'host'>): Finding {
  if (native.status !== 'works' || !isLoopback(host)) return native;
  return partly(native.subject, native.source, {
    reason: `off: the service listens only on ${host}`,
    remedy: 'set server.host to "::" or to an address of the network, or discovery.mdns to false',
  });
}
