/** Bodies that never end: no client waits for them, the attacker is cut or refused, and the log has a line of it. */
import net from 'node:net';
import t, { type Test } from 'tap';
import type { Endpoint } from '#src/http/routes.js';
import { RawConnection, requestBytes } from '../helpers/clients/http.ts';
import { startRoutes } from '../helpers/clients/routes.ts';
import { serveProgram } from '../helpers/service/service.ts';

const HEAD = 'HTTP/1.1\r\nHost: localhost\r\n';
const TINY = Buffer.from('1\r\nx\r\n'.repeat(10_000));
/** Maximum that the attack sends before it stops on its own: a million chunks. */
const MAX_SENT = 100 * TINY.length;

/** Sends a chunked request whose body does not end, as fast as it is taken. `isCut`: it was ended before all was sent. */
async function flood(port: number, path: string, from = '127.0.0.1') {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress: from });
  let answer = '';
  let sent = 0;
  socket.on('data', (bytes) => {
    answer += bytes.toString('latin1');
  });
  // A reset is an end as well.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.write(`POST ${path} ${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
  while (sent < MAX_SENT && !socket.destroyed) {
    sent += TINY.length;
    if (!socket.write(TINY))
      await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
  socket.destroy();
  await closed;
  return { isCut: sent < MAX_SENT, answer };
}

/** Asks over one connection until `work` is done; returns the answers, of which there must be some. */
async function askWhile(t: Test, port: number, path: string, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  const connection = await RawConnection.openIn(t, port, '127.0.0.1', '127.0.0.5');
  let answers = 0;
  do {
    connection.write(requestBytes(path));
    if ((await connection.readAnswer()).status === 200) answers++;
  } while (!isOver);
  return answers;
}

t.test('[1.endless-body] admitted: cut at the piece that is too much, and logged', async (t) => {
  let acts = 0;
  const run: Endpoint['run'] = () => {
    acts++;
    return { status: '200 OK', headers: [], body: '{}' };
  };
  const { port, log, stop } = await startRoutes([
    { path: '/json', methods: { POST: { body: 'json', run } } },
    { path: '/ignored', methods: { POST: { body: 'ignored', run } } },
    { path: '/get', methods: { GET: { run: () => ({ status: '200 OK', headers: [], body: '{}' }) } } },
  ]);
  t.teardown(stop);
  for (const path of ['/json', '/ignored']) {
    const attack = Promise.all(Array.from({ length: 4 }, () => flood(port, path)));
    t.ok((await askWhile(t, port, '/get', attack)) > 0, 'others are answered');
    t.strictSame(await attack, Array(4).fill({ isCut: true, answer: '' }), path);
    const lines = log.filter((line) => line.includes(`POST ${path}: connection cut, the body arrived in`));
    t.equal(lines.length, 4, 'one line each');
  }
  for (const [path, status] of [
    ['/nope', 404],
    ['/get', 405],
  ] as const) {
    const { isCut, answer } = await flood(port, path);
    t.ok(isCut, `${path} ends`);
    // A reset may overtake the answer of one that does not stop sending.
    if (answer !== '') t.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
  }
  t.equal(acts, 0, 'nothing acts before the whole body has arrived');
});

t.test('[1.refused-unread] refused by address or key: the answer goes, the connection ends', async (t) => {
  const key = 'k'.repeat(32);
  const service = await serveProgram(t, {
    config: { auth: { enabled: true, api_key: key, blocked_ips: ['127.0.0.66'] } },
  });
  const { port } = service;
  for (const [from, status] of [
    ['127.0.0.66', 403],
    ['127.0.0.67', 401],
  ] as const) {
    const attack = Promise.all(Array.from({ length: 4 }, () => flood(port, '/api/pw/sleep', from)));
    t.ok((await askWhile(t, port, '/api/status', attack)) > 0, 'others are answered');
    for (const { isCut, answer } of await attack) {
      t.ok(isCut, 'it ends');
      if (answer !== '') t.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
    }
    const connection = await RawConnection.openIn(t, port, '127.0.0.1', from);
    connection.write(`POST /api/pw/sleep ${HEAD}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`);
    t.equal((await connection.readAnswer()).status, status, 'one that ends can read its answer');
    await connection.closed();
  }
});
