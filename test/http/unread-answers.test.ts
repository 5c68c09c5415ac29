/** A client that sends requests and reads no answer: at most one answer is kept for each connection. */
import '../helpers/service/dead-buses.ts';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import t from 'tap';
import { startService } from '../helpers/service/service.ts';

const CONNECTIONS = 4;
/** The dashboard's script has some 60 KB: without a limit, 400 answers per connection are 96 MB in all. */
const REQUESTS = 400;
const MAX_GROWTH_MB = 24;

function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

t.test('[2.unread] requests without end, and nobody reads: no more than one answer is kept', async (t) => {
  const service = await startService({ config: { auth: { enabled: true, api_key: 'k'.repeat(32) } } });
  t.teardown(() => service.stop());
  const page = await (await fetch(service.baseUrl)).text();
  const script = /src="([^"]+\.js)"/.exec(page)?.[1];
  if (script === undefined) throw new Error('the page has no script');
  const target = new URL(script, `${service.baseUrl}/`).pathname;
  const asked = await fetch(`${service.baseUrl}${target}`);
  t.equal(asked.status, 200);
  t.ok((await asked.text()).length > 20_000, 'an answer worth asking for');
  const before = residentMb(service.pid);
  const request = `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const sockets = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const socket = net.connect(service.port, '127.0.0.1');
      await once(socket, 'connect');
      // Never read, and cut in the middle of a write.
      socket.pause();
      socket.on('error', () => undefined);
      socket.write(request.repeat(REQUESTS));
      return socket;
    }),
  );
  t.teardown(() => sockets.forEach((socket) => socket.destroy()));
  for (let i = 0; i < 10; i++) t.equal((await fetch(`${service.baseUrl}/api/status`)).status, 200);
  const growth = residentMb(service.pid) - before;
  t.ok(
    growth < MAX_GROWTH_MB,
    `${growth.toFixed(1)} MB more, of ${CONNECTIONS * REQUESTS} answers asked for`,
  );
});
