/** A stream and a socket of the client at a real service: the events they received, and the timers they hold. */
import { getEventListeners } from 'node:events';
import { WebSocket } from 'ws';
import type { AnyStats, ConnectionState, SocketConstructor } from '#src/client/client.js';
import { ENVIRONMENT, type Environment } from '#src/client/environment.js';
import { connectIn } from '#src/client/socket.js';
import { streamStatsIn } from '#src/client/stream.js';

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

/** Identifies the reading that a sample was made of; the hosts of these tests never repeat one. */
export const markOf = (sample: AnyStats | undefined): number => sample?.network?.bytesRecv ?? -1;
