/** WebSockets that have ended, and whose connections may be gone or not: what counts is the descriptors that are open. */
import '../helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import t, { type Test } from 'tap';
import { SocketClient } from '../helpers/clients/socket.ts';
import { type ServiceProcess, startService } from '../helpers/service/service.ts';

const LIMIT = 240;

async function start(t: Test): Promise<ServiceProcess> {
  const service = await startService({
    start: (command, args, how) =>
      spawn('/bin/sh', ['-c', `ulimit -n ${LIMIT}; exec "$0" "$@"`, command, ...args], how),
  });
  t.teardown(() => service.stop());
  return service;
}

const statusOf = async ({ baseUrl }: ServiceProcess) => {
  const answer = await fetch(`${baseUrl}/api/status`, { headers: { connection: 'close' } });
  return answer.status;
};

t.test('[7.ended-counted] sockets closed in good order leave room for as many more', async (t) => {
  const service = await start(t);
  for (let round = 0; round < 5; round++) {
    const clients = await Promise.all(Array.from({ length: 100 }, () => SocketClient.open(service.port)));
    for (const client of clients) client.ws.close(1000);
    await Promise.all(clients.map((client) => client.closed));
    t.equal(await statusOf(service), 200, `after ${(round + 1) * 100} sockets`);
  }
});

t.test('[7.ended-counted] a close frame that says 1006 is not believed', async (t) => {
  const service = await start(t);
  const lingering: SocketClient[] = [];
  t.teardown(() => lingering.forEach((client) => client.cut()));
  // A masked close frame with the code 1006, which no library sends; the connection behind it stays.
  const frame = Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xee]);
  for (let i = 0; i < LIMIT; i++) {
    const client = await SocketClient.open(service.port).catch(() => undefined);
    if (client === undefined) break;
    lingering.push(client);
    // The package has no other way to its connection.
    const { _socket: socket } = client.ws as unknown as { readonly _socket: import('node:net').Socket };
    socket.removeAllListeners('end');
    socket.write(frame);
  }
  t.ok(lingering.length > LIMIT / 2, `${lingering.length} sockets`);
  const open = readdirSync(`/proc/${service.pid}/fd`).length;
  t.ok(open < LIMIT - 10, `${open} of ${LIMIT} descriptors: some are left for the service itself`);
  for (const client of lingering) client.cut();
  let status = 0;
  // The kernel closes them one after the other.
  while (status !== 200) status = await statusOf(service).catch(() => 0);
  t.equal(status, 200, 'when they are gone there is room');
});
