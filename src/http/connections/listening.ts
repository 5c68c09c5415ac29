/** The listening socket: its address, the options that connections inherit, and how many descriptors it reserves. */
import type { CurrentConfig } from '../../config/current.ts';
import type { Host, ListenerOptions } from '../../host/host.ts';
import type { Log } from '../../log.ts';
import type { Caller } from '../clients/caller.ts';
import type { Tally } from '../clients/tally.ts';
import type { Engine } from '../engine.ts';
import { SILENT_LIMIT_MS } from './peers.ts';

/** Inherited by every connection. The reasons for these numbers are in docs/performance.md. */
const LISTENER: ListenerOptions = {
  notSentLowWaterBytes: 16 * 1024,
  keepAliveIdleSeconds: 10,
  keepAliveIntervalSeconds: 5,
  keepAliveProbes: 2,
  backlog: 4096,
};

/** The descriptors that streams must leave free. Of no limit (Infinity) the rest is Infinity, too. */
const reserveOf = (limit: number) => Math.min(256, Math.floor(limit / 4));

/** Half of the reserve is for other requests, half for the service's own files. */
export const maxConnections = (limit: number) => limit - Math.floor(reserveOf(limit) / 2);

/** Whether one more subscriber may be let in beside those of `doors`; `tally` counts the keyless ones by address. */
export function roomFor(
  host: Pick<Host, 'descriptorLimit'>,
  config: CurrentConfig,
  doors: readonly { readonly size: number }[],
  tally: Tally,
): (caller: Caller) => boolean {
  return ({ address, isKeyed }) => {
    const { max_streams_per_address: maxOfAddress } = config.current.server;
    if (!isKeyed && maxOfAddress > 0 && tally.of(address) >= maxOfAddress) return false;
    const limit = host.descriptorLimit();
    const allowed = limit - reserveOf(limit);
    const wanted = config.current.server.max_streams;
    const max = wanted === 0 ? allowed : Math.min(wanted, allowed);
    return doors.reduce((sum, { size }) => sum + size, 0) < max;
  };
}

/** Listens, and returns the address in use: a kernel without IPv6 has no "::". Rejects with ListenError. */
export async function listenOn(
  server: Engine,
  host: string,
  port: number,
): Promise<{ readonly host: string; readonly port: number }> {
  try {
    return { host, port: await server.listen(host, port) };
  } catch (error) {
    if (host !== '::') throw error;
    return { host: '0.0.0.0', port: await server.listen('0.0.0.0', port) };
  }
}

/** Whether the kernel reports what peers acknowledge; logs it where it does not. */
export function canJudgePeers(host: Host, log: Log): boolean {
  if (host.canReadPendingPeers()) return true;
  log.info('this system does not report what peers acknowledge: stalled connections are cut by a timer');
  return false;
}

/** False when nothing could be set. Where peers cannot be judged the kernel's timer cuts stalled ones. */
export function tuneListening(host: Host, port: number, canJudge: boolean): boolean {
  const options = canJudge ? LISTENER : { ...LISTENER, userTimeoutMs: SILENT_LIMIT_MS };
  return host.tuneListener(port, options) > 0;
}
