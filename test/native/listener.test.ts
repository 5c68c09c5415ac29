/** The tuning of the listening socket, seen in what accepted connections do; connections and descriptors, counted. */
import '../helpers/service/dead-buses.ts';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openNativeHost } from '#src/host/native.js';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { checkByAddress, checkTuned, connectPair, startListener } from '../helpers/native/listeners.ts';

const host = openNativeHost();
const ESTABLISHED = '01';
/** A kind of timer in /proc/net/tcp. */
const KEEPALIVE = 2;
/** USER_HZ, on every machine that Node runs on. */
const TICKS_A_SECOND = 100;

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

t.test('only the listening sockets on the port are counted', (t) => checkTuned(t, '127.0.0.2'));

t.test('a socket that refuses an option is not counted as tuned', async (t) => {
  const { port } = await startListener(t);
  t.equal(host.tuneListener(port, { keepAliveIdleSeconds: 0 }), 0, 'TCP_KEEPIDLE is 1 at least');
  t.equal(host.tuneListener(port, { keepAliveIdleSeconds: 1 }), 1);
});

/** The running timer of a connection, as proc(5) has it: its kind and its seconds. Others may have its local port too. */
function timerOf({ localPort, remotePort }: net.Socket) {
  const hex = (port = 0) => port.toString(16).toUpperCase().padStart(4, '0');
  const row = new RegExp(`:${hex(localPort)} \\w+:${hex(remotePort)} ${ESTABLISHED} \\S+ (\\w+):(\\w+)`);
  const [, kind = '', ticks = ''] = row.exec(readFileSync('/proc/net/tcp', 'latin1')) ?? [];
  return { kind: Number.parseInt(kind, 16), seconds: Number.parseInt(ticks, 16) / TICKS_A_SECOND };
}

t.test('accepted connections inherit keepalive', async (t) => {
  const { server, port } = await startListener(t);
  const options = { keepAliveIdleSeconds: 77, keepAliveIntervalSeconds: 5, keepAliveProbes: 3 };
  const plain = await connectPair(t, server, port);
  t.same(timerOf(plain.accepted), { kind: 0, seconds: 0 });
  plain.client.destroy();
  await once(plain.accepted, 'close');
  t.equal(host.tuneListener(port, options), 1);
  const { kind, seconds } = timerOf((await connectPair(t, server, port)).accepted);
  t.equal(kind, KEEPALIVE);
  t.ok(seconds > 60 && seconds <= 78, `a timer of 77 s is running: ${seconds} s are left`);
});

t.test('a stalled reader shows early: TCP_NOTSENT_LOWAT', async (t) => {
  const { server, port } = await startListener(t);
  const untuned = await takenForStalledReader((await connectPair(t, server, port)).accepted);
  t.equal(host.tuneListener(port, { notSentLowWaterBytes: 16_384 }), 1);
  const tuned = await takenForStalledReader((await connectPair(t, server, port)).accepted);
  t.ok(tuned < 600_000 && tuned < untuned / 2, `${tuned} bytes instead of ${untuned}`);
});

t.test('an unresponsive reader is cut: TCP_USER_TIMEOUT', async (t) => {
  const { server, port } = await startListener(t);
  t.equal(host.tuneListener(port, { userTimeoutMs: 1000, notSentLowWaterBytes: 16_384 }), 1);
  const { accepted } = await connectPair(t, server, port);
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

t.test('[1.connections] counted by address', (t) =>
  checkByAddress(t, '127.0.0.1', ['127.0.0.1', '127.0.0.2', '127.0.0.2']),
);

t.test('open descriptors are counted as the kernel lists them', async (t) => {
  const host = openNativeHost();
  // Listing them opens one more.
  const listed = () => readdirSync('/proc/self/fd').length - 1;
  const before = host.openDescriptors();
  t.equal(before, listed());
  const opened = Array.from({ length: 50 }, () => openSync('/dev/null', 'r'));
  t.equal(host.openDescriptors(), (before ?? 0) + 50);
  t.equal(host.openDescriptors(), listed());
  for (const descriptor of opened) closeSync(descriptor);
  t.equal(host.openDescriptors(), before);
  t.ok(host.descriptorLimit() > (before ?? 0));
});
