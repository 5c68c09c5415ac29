/** The listening socket: its address, and the options that connections inherit. */
import type { Config } from '../../config/config.ts';
import type { ListenerOptions } from '../../host/listener.ts';
import type { TlsPair } from '../../tls/pair.ts';
import type { Engine } from '../engine.ts';

/** Inherited by every connection. The reasons for these numbers are in docs/evidence/performance.md. */
export const LISTENER: ListenerOptions = {
  notSentLowWaterBytes: 16 * 1024,
  // A peer that vanished is gone after it, and one that reads nothing keeps no more answers than it was sent in this time.
  // Twice what a full stream may stall: the kernel adds up the stalls of a reader that never takes a whole segment.
  userTimeoutMs: 60_000,
  // uWebSockets.js reads a connection again without a turn of the loop whenever a read filled its 512 KiB: a peer that
  // sends faster than that is worked off held the loop for 5 to 15 s.
  receiveBufferBytes: 32 * 1024,
  keepAliveIdleSeconds: 10,
  keepAliveIntervalSeconds: 5,
  keepAliveProbes: 2,
  backlog: 4096,
};

/** A port that the service listens on. */
export interface Bound {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
}

/** The certificate and the key of the configuration, which has both or none. */
export function pairOf({ tls: { cert, key } }: Config['server']): TlsPair | undefined {
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

/** Listens on all ports of the configuration. Rejects with ListenError, or the engine's Error; some may listen then. */
export async function listenAll(engine: Engine, server: Config['server']): Promise<readonly Bound[]> {
  const { host, port, tls } = server;
  const pair = pairOf(server);
  const bound: Bound[] = [];
  if (pair === undefined || tls.port !== undefined)
    bound.push({ scheme: 'http', ...(await listenOn(engine, host, port)) });
  if (pair !== undefined)
    bound.push({ scheme: 'https', ...(await listenOn(engine, host, tls.port ?? port, pair)) });
  return bound;
}

/** Listens, and returns the address in use: a kernel without IPv6 has no "::". */
async function listenOn(
  engine: Engine,
  host: string,
  port: number,
  pair?: TlsPair,
): Promise<{ readonly host: string; readonly port: number }> {
  try {
    return { host, port: await engine.listen(host, port, pair) };
  } catch (error) {
    if (host !== '::') throw error;
    const second = '0.0.0.0';
    // The address of the error is the one that was set, also where the second attempt fails.
    const bound = await engine.listen(second, port, pair).catch(() => Promise.reject(error));
    return { host: second, port: bound };
  }
}
