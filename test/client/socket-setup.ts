/** A client's socket over fake WebSockets, with a clock that the test moves. */
import type { Test } from 'tap';
import type { ConnectionState, SocketOptions } from '#src/client/client.js';
import { connectIn } from '#src/client/socket.js';
import { settle } from '../helpers/fakes/clock.ts';
import { fakeSockets } from './fake-sockets.ts';
import { surroundings } from './surroundings.ts';

export async function startSocket(t: Test, options: Partial<SocketOptions> = {}) {
  const around = surroundings();
  const { WebSocket, made } = fakeSockets();
  const states: ConnectionState[] = [];
  const heard: [type: string, value: unknown][] = [];
  const socket = connectIn({ url: 'http://pc:9990', WebSocket, ...options }, around.environment);
  t.teardown(() => socket.close());
  socket.on('state', (state) => states.push(state));
  for (const type of ['connected', 'system_stats', 'media_update', 'process_list', 'power_update'] as const)
    socket.on(type, (value) => heard.push([type, value]));
  for (const type of ['media_feedback', 'power_feedback', 'process_feedback', 'closing', 'error'] as const)
    socket.on(type, (value) => heard.push([type, value]));
  await settle();
  return {
    ...around,
    socket,
    made,
    states,
    heard,
    /** The current connection. Throws when there has been none. */
    newest() {
      const newest = made.at(-1);
      if (newest === undefined) throw new Error('no socket was made');
      return newest;
    },
  };
}

/** An open socket. */
export async function openSocket(t: Test, options: Partial<SocketOptions> = {}) {
  const started = await startSocket(t, options);
  started.newest().greet();
  await settle();
  return started;
}

/** The state of a promise: `pending`, its value, or the reason of its rejection. */
export async function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  let outcome: unknown = 'pending';
  const settled = (value: unknown) => {
    outcome = value;
  };
  promise.then(settled, settled);
  await settle();
  return outcome;
}
