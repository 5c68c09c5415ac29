/** All connections of a port as the kernel knows them: real sockets on loopback. */
import '../helpers/service/dead-buses.ts';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Census } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';

const host = openNativeHost();
const skip = !host.canReadPendingPeers() && 'the kernel does not report it here';

async function listen(t: Test, address: string) {
  const accepted: net.Socket[] = [];
  // A side that was closed by this one stays open until the peer closes: as with uWebSockets.js.
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    socket.on('error', () => undefined);
    socket.resume();
  });
  server.listen(0, address);
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of accepted) socket.destroy();
    server.close();
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return { port: bound.port, accepted };
}

async function connect(t: Test, port: number, from: string, to = '127.0.0.1'): Promise<net.Socket> {
  const socket = net.connect({ port, host: to, localAddress: from, allowHalfOpen: true });
  socket.on('error', () => undefined);
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** The first census of `port` that is `wanted`. */
async function censusOf(port: number, wanted: (census: Census) => boolean): Promise<Census> {
  for (;;) {
    const census = await host.takeCensus(port, { halfClosedMs: 300, unansweredBytes: 1000 });
    if (wanted(census)) return census;
    await sleep(10);
  }
}

t.test('[1.connections] counted by address, IPv4 also where it is mapped', { skip }, async (t) => {
  for (const address of ['127.0.0.1', '::']) {
    const { port, accepted } = await listen(t, address);
    for (const from of ['127.0.0.1', '127.0.0.2', '127.0.0.2']) await connect(t, port, from);
    if (address === '::') await connect(t, port, '::1', '::1');
    const count = address === '::' ? 4 : 3;
    const { clients, halfClosed, unanswered } = await censusOf(port, () => accepted.length === count);
    const byAddress = new Map(clients.map(({ address: client, connections }) => [client, connections]));
    t.equal(byAddress.get('127.0.0.1'), 1);
    t.equal(byAddress.get('127.0.0.2'), 2);
    t.equal(byAddress.get('::1'), address === '::' ? 1 : undefined, 'the whole address');
    t.same([halfClosed, unanswered], [[], []]);
  }
});

t.test(
  '[1.half-closed] closed here and not there: listed after the time asked for, and cut',
  { skip },
  async (t) => {
    const { port, accepted } = await listen(t, '127.0.0.1');
    const stays = await connect(t, port, '127.0.0.1');
    await connect(t, port, '127.0.0.3');
    const { clients } = await censusOf(port, () => accepted.length === 2);
    t.equal(clients.length, 2);
    const [half] = accepted;
    half?.end('good-bye');
    const { halfClosed } = await censusOf(port, (census) => census.halfClosed.length > 0);
    t.equal(halfClosed.length, 1, 'the other one is open');
    const [{ descriptor = -1, cookie = 0n } = {}] = halfClosed;
    t.equal(host.cutConnections([{ descriptor, cookie: cookie + 1n }]), 0, 'another connection');
    const file = openSync('/dev/null', 'r');
    t.equal(host.cutConnections([{ descriptor: file, cookie }]), 0, 'no connection');
    closeSync(file);
    t.equal(host.cutConnections(halfClosed), 1);
    stays.resume();
    if (half !== undefined && !half.closed) await once(half, 'close');
    const left = await host.takeCensus(port, { halfClosedMs: 0, unansweredBytes: 0 });
    t.same(
      left.clients.map(({ address }) => address),
      ['127.0.0.3'],
    );
  },
);

t.test('[2.unfinished] what was received beyond what was sent', { skip }, async (t) => {
  const { port, accepted } = await listen(t, '127.0.0.1');
  const talks = await connect(t, port, '127.0.0.1');
  const hoards = await connect(t, port, '127.0.0.4');
  await censusOf(port, () => accepted.length === 2);
  talks.write('x'.repeat(900));
  hoards.write('x'.repeat(50_000));
  const { unanswered } = await censusOf(port, (census) => (census.unanswered[0]?.bytes ?? 0) >= 50_000);
  t.equal(unanswered.length, 1);
  t.match(unanswered, [{ address: '127.0.0.4', bytes: 50_000 }]);
  for (const socket of accepted) socket.write('y'.repeat(60_000));
  hoards.resume();
  const after = await censusOf(port, (census) => census.unanswered.length === 0);
  t.equal(after.clients.length, 2, 'answered, so no longer listed');
});
