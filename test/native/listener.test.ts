/** The tuning of the listening socket, seen from outside: in `ss`, and in what accepted connections do. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { PATIENCE_MS } from '../helpers/limits.ts';
import '../helpers/service/dead-buses.ts';
import { openNativeHost } from '#src/host/native.js';

const host = openNativeHost();

async function listen(t: Test, address = '127.0.0.1'): Promise<{ server: net.Server; port: number }> {
  const server = net.createServer();
  t.teardown(() => server.close());
  server.listen(0, address);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return { server, port: bound.port };
}

/** Both ends of a connection; the client reads nothing until the test resumes it. */
async function connect(t: Test, server: net.Server, port: number) {
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

function ss(...args: readonly string[]): string {
  return execFileSync('ss', ['-Hn', ...args], { encoding: 'utf8' });
}

/** How many bytes the kernel takes for a reader that reads nothing. */
async function takenForStalledReader(accepted: net.Socket): Promise<number> {
  const chunk = Buffer.alloc(1024);
  for (let written = 0; written < 16_000_000; written += chunk.length) {
    accepted.write(chunk);
    if (accepted.writableLength === 0) continue;
    await sleep(20);
    if (accepted.writableLength > 0) return written;
  }
  return Number.POSITIVE_INFINITY;
}

t.test('only the listening sockets on the port are counted', async (t) => {
  const first = await listen(t);
  const second = await listen(t, '::1');
  const { accepted } = await connect(t, first.server, first.port);
  t.equal(accepted.localPort, first.port, 'a connection has that port too');
  t.equal(host.tuneListener(first.port, {}), 1);
  t.equal(host.tuneListener(second.port, { backlog: 100 }), 1, 'IPv6');
  const both = net.createServer();
  t.teardown(() => both.close());
  both.listen(first.port, '::1');
  await once(both, 'listening');
  t.equal(host.tuneListener(first.port, {}), 2, 'two sockets on one port');
  second.server.close();
  await once(second.server, 'close');
  t.equal(host.tuneListener(second.port, {}), 0, 'none after it is closed');
  t.equal(host.tuneListener(0, {}), 0);
});

t.test('the receive buffer is inherited: it bounds what one read returns', async (t) => {
  const { server, port } = await listen(t);
  t.equal(host.tuneListener(port, { receiveBufferBytes: 32 * 1024 }), 1);
  await connect(t, server, port);
  // The kernel takes twice the number, socket(7).
  t.match(ss('-tm', `sport = :${port}`), /\brb65536\b/);
});

t.test('a socket that refuses an option is not counted as tuned', async (t) => {
  const { port } = await listen(t);
  t.equal(host.tuneListener(port, { keepAliveIdleSeconds: 0 }), 0, 'TCP_KEEPIDLE is 1 at least');
  t.equal(host.tuneListener(port, { keepAliveIdleSeconds: 1 }), 1);
});

t.test('the backlog is raised', async (t) => {
  const { port } = await listen(t);
  const most = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  const backlog = () => Number(ss('-ltn', `sport = :${port}`).trim().split(/\s+/)[2]);
  t.equal(backlog(), Math.min(511, most), 'what Node asked for');
  t.equal(host.tuneListener(port, { backlog: 2000 }), 1);
  t.equal(backlog(), Math.min(2000, most));
});

t.test('accepted connections inherit keepalive and the send buffer', async (t) => {
  const { server, port } = await listen(t);
  const options = { keepAliveIdleSeconds: 77, keepAliveIntervalSeconds: 5, keepAliveProbes: 3 };
  const state = () => ss('-tnom', `sport = :${port}`);
  const plain = await connect(t, server, port);
  t.notMatch(state(), /keepalive/);
  plain.client.destroy();
  await once(plain.accepted, 'close');
  t.equal(host.tuneListener(port, { ...options, sendBufferBytes: 131_072 }), 1);
  await connect(t, server, port);
  t.match(state(), /timer:\(keepalive,1min\d\dsec,0\)/, 'a timer of 77 s is running');
  t.match(state(), /tb262144/, 'the kernel doubles the size that is asked for');
});

t.test('a stalled reader shows early: TCP_NOTSENT_LOWAT', async (t) => {
  const { server, port } = await listen(t);
  const untuned = await takenForStalledReader((await connect(t, server, port)).accepted);
  t.equal(host.tuneListener(port, { notSentLowWaterBytes: 16_384 }), 1);
  const tuned = await takenForStalledReader((await connect(t, server, port)).accepted);
  t.ok(tuned < 600_000 && tuned < untuned / 2, `${tuned} bytes instead of ${untuned}`);
});

t.test('an unresponsive reader is cut: TCP_USER_TIMEOUT', async (t) => {
  const { server, port } = await listen(t);
  t.equal(host.tuneListener(port, { userTimeoutMs: 1000, notSentLowWaterBytes: 16_384 }), 1);
  const { accepted } = await connect(t, server, port);
  const begun = performance.now();
  const failed = once(accepted, 'error', { signal: AbortSignal.timeout(PATIENCE_MS) });
  // Again and again, because the reader's kernel may still take what is pending after a while: then nothing is to be
  // acknowledged any more, and the limit never passes.
  const writing = setInterval(() => accepted.write(Buffer.alloc(65_536)), 100);
  t.teardown(() => clearInterval(writing));
  const [error] = await failed;
  t.match(error, { code: 'ETIMEDOUT' });
  const ms = Math.round(performance.now() - begun);
  t.ok(ms >= 900, `after ${ms} ms`);
});
