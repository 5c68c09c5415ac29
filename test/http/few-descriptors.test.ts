/** Descriptors run short: the service neither spins nor ends, and has room again as soon as clients have gone. */
import '../helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { DescriptorCapacity } from '#src/http/connections/descriptors.js';
import { cpuNsOf } from '../../bench/cpu.ts';
import { isServed } from '../helpers/service/served.ts';
import { type ServiceProcess, startService } from '../helpers/service/service.ts';

const LIMIT = 64;
const WINDOW_MS = 2000;

async function start(t: Test, limit: number): Promise<ServiceProcess> {
  const service = await startService({
    start: (command, args, how) =>
      spawn('/bin/sh', ['-c', `ulimit -n ${limit}; exec "$0" "$@"`, command, ...args], how),
  });
  t.teardown(() => service.stop('SIGKILL'));
  return service;
}

/** The share of one core that the service takes: its CPU time, so other programs on the machine do not count. */
async function shareOf({ pid }: ServiceProcess): Promise<number> {
  const before = cpuNsOf(pid);
  await sleep(WINDOW_MS);
  return (cpuNsOf(pid) - before) / 1e6 / WINDOW_MS;
}

async function checkShare(t: Test, service: ServiceProcess, when: string): Promise<void> {
  const share = await shareOf(service);
  t.comment(`figure: ${when}: ${(100 * share).toFixed(1)} % of a core`);
  t.ok(share < 0.2, `${when}: ${(100 * share).toFixed(1)} % of a core`);
}

/** Opens `count` connections and sends `text` on each; counts the status codes, '' for connections that were closed. */
async function open(t: Test, port: number, count: number, text: string) {
  const sockets: net.Socket[] = [];
  const statuses = new Map<string, number>();
  t.teardown(() => sockets.forEach((socket) => socket.destroy()));
  for (let i = 0; i < count; i++) {
    const socket = net.connect(port, '127.0.0.1');
    sockets.push(socket);
    const answer = new Promise<string>((resolve) => {
      socket.once('data', (bytes) => resolve(String(bytes).slice(9, 12)));
      socket.once('error', () => resolve(''));
      socket.once('close', () => resolve(''));
    });
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    if (text === '') continue;
    socket.write(text);
    const status = await answer;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === '503') socket.destroy();
  }
  return { sockets, statuses };
}

t.test(`[4.descriptors] [4.few-descriptors] ${LIMIT} descriptors`, async (t) => {
  const service = await start(t, LIMIT);
  const { port, pid } = service;
  const countOpen = () => readdirSync(`/proc/${pid}/fd`).length;

  const silent = await open(t, port, 150, '');
  await checkShare(t, service, '150 connections that say nothing');
  t.ok(countOpen() < LIMIT, `${countOpen()} of ${LIMIT} descriptors`);
  silent.sockets.forEach((socket) => socket.destroy());
  t.ok(await isServed(port), 'it serves when they have gone');

  const streams = await open(t, port, 100, 'GET /api/stream?detail=1 HTTP/1.1\r\nHost: localhost\r\n\r\n');
  t.comment(`answers: ${[...streams.statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}`);
  t.ok((streams.statuses.get('200') ?? 0) > 0, 'some streams');
  t.ok((streams.statuses.get('503') ?? 0) > 0, 'an answer for others');
  await checkShare(t, service, '100 attempts to open a stream');
  t.ok(countOpen() < LIMIT, `${countOpen()} of ${LIMIT} descriptors`);
  // Connections that were refused end on its side up to 2 s later.
  t.ok(await isServed(port), 'it answers beside its streams');
  streams.sockets.forEach((socket) => socket.destroy());
  t.ok(await isServed(port), 'it serves when they have gone');

  await checkShare(t, service, 'idle');
  t.notMatch(service.stderr(), /EMFILE|Too many open files/, 'the service itself had enough of them');
  t.match(await service.stop(), { code: 0 });
});

t.test('[4.few-descriptors] fewer than the service needs: it says so, and still serves', async (t) => {
  const service = await start(t, 40);
  t.match(
    service.stderr(),
    /warn: the limit of open files is 40, and the service needs 64: raise "ulimit -n"/,
  );
  const { sockets } = await open(t, service.port, 100, '');
  await checkShare(t, service, '100 connections');
  sockets.forEach((socket) => socket.destroy());
  t.ok(await isServed(service.port));
});

t.test("the service's own descriptors leave less room, and never none", async (t) => {
  let now = 0;
  let openNow: number | undefined = 20;
  let connections = 0;
  const roomOf = (limit: number) =>
    new DescriptorCapacity({
      host: {
        descriptorLimit: () => limit,
        openDescriptors: () => {
          return openNow;
        },
      },
      now: () => now,
      connections: () => connections,
    });
  const room = roomOf(1024);
  t.strictSame([room.maxConnections(), room.maxStreams()], [896, 768], 'an eighth is more than it has');
  openNow = 400;
  connections = 100;
  t.equal(room.maxConnections(), 896, 'counted not long ago');
  now += 2000;
  t.equal(room.maxConnections(), 1024 - 302);
  openNow = undefined;
  now += 2000;
  t.equal(room.maxConnections(), 1024 - 302, 'the last count, where it cannot be counted');
  const few = roomOf(LIMIT);
  t.strictSame([few.maxConnections(), few.maxStreams()], [6, 5]);
  const tooFew = roomOf(20);
  t.strictSame([tooFew.maxConnections(), tooFew.maxStreams()], [2, 2]);
  const none = roomOf(Number.POSITIVE_INFINITY);
  t.strictSame([none.maxConnections(), none.maxStreams()], [Infinity, Infinity]);
});
