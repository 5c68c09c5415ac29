/** Sockets that listen, those that connect to them, and the connections of both. */
import '../service/dead-buses.ts';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { ClientConnections } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { listen as listenAt } from '../clients/listen.ts';

const host = openNativeHost();

export async function listen(t: Test, address: string) {
  const accepted: net.Socket[] = [];
  // A side that was closed by this one stays open until the peer closes: as with uWebSockets.js.
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    socket.on('error', () => undefined);
    socket.resume();
  });
  t.teardown(() => {
    for (const socket of accepted) socket.destroy();
  });
  return { port: await listenAt(t, server, address), accepted };
}

export async function connect(t: Test, port: number, from: string, to = '127.0.0.1'): Promise<net.Socket> {
  const socket = net.connect({ port, host: to, localAddress: from, allowHalfOpen: true });
  socket.on('error', () => undefined);
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** the first report of `port` that is `wanted`. */
export async function connectionsOf(
  port: number,
  wanted: (found: readonly ClientConnections[]) => boolean,
): Promise<readonly ClientConnections[]> {
  for (;;) {
    const found = await host.readConnections(port);
    if (wanted(found)) return found;
    await sleep(10);
  }
}

/** A server on a free port, and that port. */
export async function startListener(
  t: Test,
  address = '127.0.0.1',
): Promise<{ server: net.Server; port: number }> {
  const server = net.createServer();
  return { server, port: await listenAt(t, server, address) };
}

/** Both ends of a connection; the client reads nothing until the test resumes it. */
export async function connectPair(t: Test, server: net.Server, port: number) {
  const client = net.connect({ port, host: '127.0.0.1' });
  client.on('error', () => {});
  const [accepted] = await once(server, 'connection');
  if (!(accepted instanceof net.Socket)) throw new Error('no connection');
  accepted.on('error', () => {});
  t.teardown(() => {
    client.destroy();
    accepted.destroy();
  });
  return { client, accepted };
}

/** Only the listening sockets on a port are counted: one on loopback, one at `other`, and two on one port. */
export async function checkTuned(t: Test, other: string): Promise<void> {
  const first = await startListener(t);
  const second = await startListener(t, other);
  const { accepted } = await connectPair(t, first.server, first.port);
  t.equal(accepted.localPort, first.port, 'a connection has that port too');
  t.equal(host.tuneListener(first.port, {}), 1);
  t.equal(host.tuneListener(second.port, { backlog: 100 }), 1, other);
  const both = net.createServer();
  t.teardown(() => both.close());
  both.listen(first.port, other);
  await once(both, 'listening');
  t.equal(host.tuneListener(first.port, {}), 2, 'two sockets on one port');
  second.server.close();
  await once(second.server, 'close');
  t.equal(host.tuneListener(second.port, {}), 0, 'none after it is closed');
  t.equal(host.tuneListener(0, {}), 0);
}

/** Connections to `address` from each of `from`, counted by the whole address. */
export async function checkByAddress(t: Test, address: string, from: readonly string[]): Promise<void> {
  const { port, accepted } = await listen(t, address);
  for (const each of from) await connect(t, port, each, each.includes(':') ? each : '127.0.0.1');
  const clients = await connectionsOf(port, () => accepted.length === from.length);
  t.strictSame(
    new Map(clients.map((client) => [client.address, client.connections])),
    new Map(from.map((each) => [each, from.filter((other) => other === each).length])),
    'the whole address',
  );
}
