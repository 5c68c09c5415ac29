/** Which connections have something pending, and cutting those that always will: real sockets on loopback. */
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { PendingPeer } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import '../../helpers/service/dead-buses.ts';

const host = openNativeHost();

async function listen(t: Test, address = '127.0.0.1') {
  const server = net.createServer();
  t.teardown(() => server.close());
  server.listen(0, address);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return { server, port: bound.port };
}

/** Both ends of a connection; the client reads nothing until the test resumes it. */
async function connect(t: Test, server: net.Server, port: number, address = '127.0.0.1') {
  const client = net.connect({ port, host: address });
  client.on('error', () => undefined);
  const [accepted] = await once(server, 'connection');
  if (!(accepted instanceof net.Socket)) throw new Error('no connection');
  accepted.on('error', () => undefined);
  accepted.resume();
  t.teardown(() => {
    client.destroy();
    accepted.destroy();
  });
  return { client, accepted };
}

/** Resolves at its end, however it came. */
const closeOf = (socket: net.Socket) =>
  new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));

const MUCH = 8 * 1024 * 1024;

/** The one peer of `port` with bytes pending. */
async function onlyPeer(t: Test, port: number): Promise<PendingPeer> {
  const [peer, ...others] = await host.readPendingPeers(port);
  t.same(others, []);
  if (peer === undefined) throw new Error('no peer has bytes pending');
  return peer;
}

/** The kernel's counts of TCP connections that no process holds any more, and of pages in their queues. */
function kernelCounts() {
  const line = /^TCP:.* orphan (\d+) .* mem (\d+)$/m.exec(readFileSync('/proc/net/sockstat', 'utf8'));
  return { orphans: Number(line?.[1]), pages: Number(line?.[2]) };
}

t.test('this machine can read pending peers', async (t) => {
  t.equal(host.canReadPendingPeers(), true);
});

for (const [server, client] of [
  ['127.0.0.1', '127.0.0.1'],
  ['::', '127.0.0.1'],
  ['::', '::1'],
] as const)
  t.test(`pending at ${server}, asked from ${client}`, async (t) => {
    const listening = await listen(t, server);
    const { client: reader, accepted } = await connect(t, listening.server, listening.port, client);
    t.same(await host.readPendingPeers(listening.port), [], 'nothing was sent yet');
    accepted.write('x'.repeat(100));
    await once(reader, 'readable');
    t.same(await host.readPendingPeers(listening.port), [], "what the peer's kernel has is acknowledged");
    accepted.write(Buffer.alloc(MUCH));
    await sleep(100);
    const before = await onlyPeer(t, listening.port);
    t.ok(
      before.acknowledgedBytes >= 100 && before.acknowledgedBytes < MUCH,
      `${before.acknowledgedBytes} bytes`,
    );
    t.equal(before.silentMs, 0, 'it answers: it has no room');
    await sleep(50);
    t.same(await onlyPeer(t, listening.port), before, 'no progress without a reader');
    let read = 0;
    const readSome = (part: Buffer) => {
      read += part.length;
      if (read > MUCH / 8) reader.pause();
    };
    reader.on('data', readSome);
    await sleep(200);
    const after = await onlyPeer(t, listening.port);
    t.equal(after.cookie, before.cookie);
    t.ok(after.acknowledgedBytes > before.acknowledgedBytes, 'progress when it reads');
    t.same(await host.readPendingPeers(listening.port + 1), [], 'another port has none');
    reader.off('data', readSome).resume();
    await sleep(300);
    t.same(await host.readPendingPeers(listening.port), [], 'none when it has read all');
  });

t.test('bytes that this process sends to that port do not count', async (t) => {
  const { server, port } = await listen(t);
  const { client, accepted } = await connect(t, server, port);
  accepted.pause();
  client.write(Buffer.alloc(MUCH));
  await sleep(100);
  t.same(await host.readPendingPeers(port), []);
});

t.test('descriptors far apart', async (t) => {
  const { server, port } = await listen(t);
  const files = Array.from({ length: 1500 }, () => openSync('/dev/null', 'r'));
  const { accepted } = await connect(t, server, port);
  for (const file of files) closeSync(file);
  accepted.write(Buffer.alloc(MUCH));
  await sleep(100);
  const { descriptor } = await onlyPeer(t, port);
  t.ok(descriptor > 1000, `it is ${descriptor}`);
});

t.test('cut: only the same connection, only without progress', async (t) => {
  const { server, port } = await listen(t);
  const { client, accepted } = await connect(t, server, port);
  const other = await connect(t, server, port);
  accepted.write(Buffer.alloc(MUCH));
  await sleep(100);
  const peer = await onlyPeer(t, port);
  t.equal(host.cutPeers([]), 0);
  t.equal(host.cutPeers([{ ...peer, cookie: peer.cookie + 1n }]), 0, 'another connection');
  t.equal(host.cutPeers([{ ...peer, acknowledgedBytes: peer.acknowledgedBytes - 1 }]), 0, 'progress since');
  for (const descriptor of [-1, 0, 1, 2, 100_000, 2 ** 31 - 1])
    t.equal(host.cutPeers([{ ...peer, descriptor }]), 0, `descriptor ${descriptor}`);
  t.equal(accepted.closed, false);
  const closed = closeOf(accepted);
  t.equal(host.cutPeers([peer]), 1);
  await closed;
  t.same(await host.readPendingPeers(port), []);
  client.resume();
  await closeOf(client);
  t.ok(client.bytesRead < MUCH, 'the peer hears of it, if it listens');
  t.equal(host.cutPeers([peer]), 0, 'it has gone');
  other.accepted.write('still there');
  await once(other.client, 'readable');
  t.equal(String(other.client.read()), 'still there');
});

t.test('a cut connection that has drained since is not cut', async (t) => {
  const { server, port } = await listen(t);
  const { client, accepted } = await connect(t, server, port);
  accepted.write(Buffer.alloc(MUCH));
  await sleep(100);
  const peer = await onlyPeer(t, port);
  client.resume();
  await sleep(300);
  t.same(await host.readPendingPeers(port), []);
  t.equal(host.cutPeers([{ ...peer, acknowledgedBytes: MUCH }]), 0);
});

t.test('nothing of a cut connection stays in the kernel', async (t) => {
  const { server, port } = await listen(t);
  const pairs = [];
  for (let i = 0; i < 20; i++) pairs.push(await connect(t, server, port));
  for (const { accepted } of pairs) accepted.write(Buffer.alloc(MUCH));
  await sleep(200);
  const before = kernelCounts();
  const peers = await host.readPendingPeers(port);
  t.equal(peers.length, 20);
  t.equal(host.cutPeers(peers), 20);
  await Promise.all(pairs.map(({ accepted }) => closeOf(accepted)));
  await sleep(100);
  for (const { client } of pairs) client.destroy();
  await sleep(100);
  const after = kernelCounts();
  t.ok(after.orphans <= before.orphans, `${before.orphans} → ${after.orphans} orphans`);
  t.ok(after.pages < before.pages - 20 * 100, `${before.pages} → ${after.pages} pages`);
});
