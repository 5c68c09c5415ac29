/** WebSockets that have ended, and whose connections may be gone or not: what counts is the descriptors that are open. */
import '../helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import net from 'node:net';
import t, { type Test } from 'tap';
import { SocketClient } from '../helpers/clients/socket.ts';
import { type ServiceProcess, serveProgram } from '../helpers/service/service.ts';

/** Room for two rounds: the descriptors of one may close while the next one opens. */
const LIMIT = 400;

async function start(t: Test): Promise<ServiceProcess> {
  return await serveProgram(t, {
    start: (command, args, how) =>
      spawn('/bin/sh', ['-c', `ulimit -n ${LIMIT}; exec "$0" "$@"`, command, ...args], how),
  });
}

const statusOf = async ({ baseUrl }: ServiceProcess) => {
  const answer = await fetch(`${baseUrl}/api/status`, { headers: { connection: 'close' } });
  return answer.status;
};

t.test('[7.ended-counted] sockets closed in good order leave room for as many more', async (t) => {
  const service = await start(t);
  for (let round = 0; round < 8; round++) {
    const clients = await Promise.all(Array.from({ length: 100 }, () => SocketClient.open(service.port)));
    for (const client of clients) client.ws.close(1000);
    await Promise.all(clients.map((client) => client.closed));
    t.equal(await statusOf(service), 200, `after ${(round + 1) * 100} sockets`);
  }
});

/** Upgrades a connection by hand: no library sends the code 1006, or leaves a connection open behind a close frame. */
async function openRaw(port: number): Promise<net.Socket | undefined> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.write(
    'GET /api/ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  const [head]: unknown[] = await Promise.race(
    ['data', 'end', 'close'].map((event) => once(socket, event)),
  ).catch(() => []);
  return String(head).startsWith('HTTP/1.1 101') ? socket : undefined;
}

t.test('[7.ended-counted] a close frame that says 1006 is not believed', async (t) => {
  const service = await start(t);
  const lingering: net.Socket[] = [];
  const end = () => lingering.splice(0).forEach((socket) => socket.destroy());
  t.teardown(end);
  // A masked close frame with the code 1006.
  const frame = Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xee]);
  for (let i = 0; i < 2 * LIMIT; i++) {
    const socket = await openRaw(service.port);
    if (socket === undefined) break;
    lingering.push(socket);
    socket.write(frame);
    socket.resume();
  }
  const open = readdirSync(`/proc/${service.pid}/fd`).length;
  t.comment(`${lingering.length} sockets, ${open} of ${LIMIT} descriptors`);
  t.ok(open < LIMIT - 5, `${open} of ${LIMIT} descriptors: some are left for the service itself`);
  end();
  let status = 0;
  // The kernel closes them one after the other.
  while (status !== 200) status = await statusOf(service).catch(() => 0);
  t.equal(status, 200, 'when they are gone there is room');
});
