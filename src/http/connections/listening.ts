/** The listening socket: where it is, what every connection inherits from it, and what it leaves for others. */
import type { Host, ListenerOptions } from '../../host/host.ts';
import type { Log } from '../../log.ts';
import type { HttpServer } from '../uws/server.ts';
import { SILENT_LIMIT_MS } from './peers.ts';

/** Inherited by every connection. Why these numbers: docs/performance.md. */
const LISTENER: ListenerOptions = {
  notSentLowWaterBytes: 16 * 1024,
  keepAliveIdleSeconds: 10,
  keepAliveIntervalSeconds: 5,
  keepAliveProbes: 2,
  backlog: 4096,
};

/** The descriptors that streams must leave free: infinity less them is infinity. */
const reserveOf = (limit: number) => Math.min(256, Math.floor(limit / 4));

/** Half of the reserve is for other requests, half for the service's own files. */
export const mostConnections = (limit: number) => limit - Math.floor(reserveOf(limit) / 2);

/** As many as were `wanted` (0: no limit) and the descriptor limit allows, less the reserve. */
export function mostStreams(limit: number, wanted: number): number {
  const allowed = limit - reserveOf(limit);
  return wanted === 0 ? allowed : Math.min(wanted, allowed);
}

/** Where it listens then: a kernel without IPv6 has no "::". Throws ListenError. */
export function listenOn(
  server: HttpServer,
  host: string,
  port: number,
): { readonly host: string; readonly port: number } {
  try {
    return { host, port: server.listen(host, port) };
  } catch (error) {
    if (host !== '::') throw error;
    return { host: '0.0.0.0', port: server.listen('0.0.0.0', port) };
  }
}

/** Whether the kernel tells what peers acknowledge; says so where it doesn't. */
export function canJudgePeers(host: Host, log: Log): boolean {
  if (host.canReadPendingPeers()) return true;
  log.info('this system does not tell what peers acknowledge: those that stall are cut by a timer');
  return false;
}

/** False: nothing could be set. Where peers can't be judged the kernel's timer cuts those that stall. */
export function tuneListening(host: Host, port: number, canJudge: boolean): boolean {
  const options = canJudge ? LISTENER : { ...LISTENER, userTimeoutMs: SILENT_LIMIT_MS };
  return host.tuneListener(port, options) > 0;
}
