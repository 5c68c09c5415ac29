/** A client that sends requests and reads no answer: at most one answer is kept for each connection. */
import '../helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { createInterface } from 'node:readline';
import t from 'tap';
import { DIFFERENCES } from '../helpers/service/differences.ts';
import { serveProgram } from '../helpers/service/service.ts';

const CONNECTIONS = 4;
/** The dashboard's script has some 60 KB: without a limit, 400 answers per connection are 96 MB in all. */
const REQUESTS = 400;
const MAX_GROWTH_MB = 24;

function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

t.test('[2.unread] endless requests, answers never read: no more than one answer is kept', async (t) => {
  const service = await serveProgram(t, { config: { auth: { enabled: true, api_key: 'k'.repeat(32) } } });
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

const READERS = 300;

/** Sockets with a small receive buffer, which Node cannot set: without one the kernel takes the whole document. */
const SLOW_READERS = `
import hashlib, socket, sys
readers = []
for i in range(${READERS}):
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    reader.connect(('127.0.0.1', int(sys.argv[1])))
    reader.sendall(b'GET /api/openapi.json HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n')
    readers.append(reader)
print('asked', flush=True)
sys.stdin.readline()
text = b''
size = int(sys.argv[2])
while True:
    text += readers[0].recv(65536)
    body = text.partition(b'\\r\\n\\r\\n')[2]
    if len(body) >= size:
        break
print(hashlib.sha256(body).hexdigest(), flush=True)
`;

t.test(
  '[2.unread-shared] an unread document is not copied for each client; late readers get all of it',
  async (t) => {
    const service = await serveProgram(t);
    const document = Buffer.from(await (await fetch(`${service.baseUrl}/api/openapi.json`)).arrayBuffer());
    const before = residentMb(service.pid);
    const args = ['-c', SLOW_READERS, String(service.port), String(document.length)];
    const readers = spawn('python3', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    t.teardown(() => readers.kill());
    const lines = createInterface({ input: readers.stdout });
    t.strictSame(await once(lines, 'line'), ['asked']);
    for (let i = 0; i < 10; i++) t.equal((await fetch(`${service.baseUrl}/api/status`)).status, 200);
    const growth = residentMb(service.pid) - before;
    const copied = (READERS * document.length) / 2 ** 20;
    t.ok(growth < copied / 3, `${growth.toFixed(1)} MB more, where copies would be ${copied.toFixed(0)} MB`);
    readers.stdin.write('\n');
    const digest = createHash('sha256').update(document).digest('hex');
    t.strictSame(await once(lines, 'line'), [digest]);
  },
);

/** One request after the other, each after the one before was answered; nothing is read. */
const PACED = `
import socket, sys, time
sockets = []
for i in range(int(sys.argv[3])):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    s.connect(('127.0.0.1', int(sys.argv[1])))
    sockets.append(s)
rounds = 0
while sockets and rounds < 60:
    rounds += 1
    for s in list(sockets):
        try:
            s.sendall(('GET %s HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n' % sys.argv[2]).encode())
        except OSError:
            sockets.remove(s)
    time.sleep(0.1)
print(len(sockets), rounds, flush=True)
`;

t.test('[2.unread] single requests, answers never read: few are answered, and nothing is kept', async (t) => {
  const service = await serveProgram(t, { config: { auth: { enabled: true, api_key: 'k'.repeat(32) } } });
  const before = residentMb(service.pid);
  // With a body: the next request waits for it. Without one: beyond a thousand per second each is the last of its
  // connection, so that at most a hundred are left at ten requests per second.
  for (const [target, sockets] of [
    ['/', '8'],
    ['/api/usage', '300'],
  ] as const) {
    const args = ['-c', PACED, String(service.port), target, sockets];
    const peer = spawn('python3', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(() => peer.kill());
    const [line] = await once(createInterface({ input: peer.stdout }), 'line');
    const [left, rounds] = String(line).split(' ');
    t.comment(`${target}: cut after ${rounds} requests`);
    // Node counts what waits in user memory: little answers wait in the kernel, and cost nothing there.
    if (target === '/') t.equal(left, '0', target);
    else if (DIFFERENCES.cutsUnreadBareAnswers) t.ok(Number(left) <= 150, `${target}: ${left} are left`);
    t.ok(residentMb(service.pid) - before < MAX_GROWTH_MB, 'and nothing is kept');
  }
});
