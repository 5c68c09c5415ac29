/** A stream and a socket of the client at a real service: the events they received, and the timers they hold. */
import { getEventListeners } from 'node:events';
import net from 'node:net';
import { WebSocket } from 'ws';
import type { AnyStats, ConnectionState, SocketConstructor } from '#src/client/client.js';
import { ENVIRONMENT, type Environment } from '#src/client/environment.js';
import { connectIn } from '#src/client/socket.js';
import { streamStatsIn } from '#src/client/stream.js';
import { PATIENCE_MS } from '../helpers/limits.ts';

/**
 * Real time, with shorter delays; counts the timers that are set. Not too short, because a service that is shutting
 * down answers a request with Retry-After: 5.
 */
export function countingEnvironment(): { readonly environment: Environment; readonly timers: () => number } {
  const timers = new Set<unknown>();
  const environment: Environment = {
    ...ENVIRONMENT,
    setTimer(fire, delayMs) {
      const timer = ENVIRONMENT.setTimer(() => {
        timers.delete(timer);
        fire();
      }, delayMs);
      timers.add(timer);
      return timer;
    },
    clearTimer(timer) {
      timers.delete(timer);
      ENVIRONMENT.clearTimer(timer);
    },
    timing: { ...ENVIRONMENT.timing, initialDelayMs: 160, maxDelayMs: 320, healthyMs: 10 },
  };
  return { environment, timers: () => timers.size };
}

export interface LiveOptions {
  readonly url: string;
  readonly key?: string;
  readonly WebSocket?: SocketConstructor;
}

export function liveClients({ url, key, WebSocket: Socket = WebSocket }: LiveOptions) {
  const { environment, timers } = countingEnvironment();
  const controller = new AbortController();
  const { signal } = controller;
  const samples: AnyStats[] = [];
  const pushed: AnyStats[] = [];
  const events: string[] = [];
  const states: { readonly from: 'stream' | 'socket'; readonly state: ConnectionState }[] = [];
  const stream = streamStatsIn(
    {
      url,
      key,
      signal,
      onSample: (sample) => samples.push(sample),
      onState: (state) => states.push({ from: 'stream', state }),
    },
    environment,
  );
  const socket = connectIn({ url, key, WebSocket: Socket, signal }, environment);
  socket.on('state', (state) => states.push({ from: 'socket', state }));
  socket.on('system_stats', (sample) => pushed.push(sample));
  for (const type of ['media_update', 'power_update', 'error', 'closing'] as const)
    socket.on(type, () => events.push(type));
  return {
    stream,
    socket,
    /** Samples of the stream. */
    samples,
    /** Samples of the socket. */
    pushed,
    /** Types of the socket's other events. */
    events,
    states,
    timers,
    listeners: () => getEventListeners(signal, 'abort').length,
    close: () => controller.abort(),
  };
}

/**
 * A free port of 127.0.0.1. A service that will be restarted on a port must be given it by number from the start: after
 * a port that the kernel chose, closed connections block it for a minute.
 */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Waits until `condition`; after `limitMs` throws with the text of `what`. */
export async function until(
  condition: () => boolean,
  what: () => string,
  limitMs = PATIENCE_MS,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Identifies the reading that a sample was made of; the hosts of these tests never repeat one. */
export const markOf = (sample: AnyStats | undefined): number => sample?.network?.bytesRecv ?? -1;
