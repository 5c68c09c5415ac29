/** An answer that goes before an act: complete, then the end of the connection, and a report of its delivery. */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Engine, Exchange } from '#src/http/engine.js';
import type { Answer } from '#src/http/head.js';
import { ask } from '../helpers/clients/http-thread.ts';
import { DIFFERENCES } from '../helpers/service/differences.ts';
import { createEngine } from '../helpers/service/engine.ts';
import { until } from '../helpers/until.ts';

type Handler = (exchange: Exchange) => void;

const ANSWER: Answer = { status: '200 OK', headers: [['X-Kind', 'last']], body: 'all of it' };

async function serve(handlers: Readonly<Record<string, Handler>>): Promise<{
  readonly server: Engine;
  readonly port: number;
}> {
  const server = await createEngine({
    headersRead: new Set(),
    onRequest: (exchange) => handlers[exchange.head.path]?.(exchange),
  });
  t.teardown(() => server.close());
  return { server, port: await server.listen('127.0.0.1', 0) };
}

const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`;

/** A handler that waits for the body as the pipeline does, then answers for good. */
function lastAnswer(reported: string[], answer = ANSWER): Handler {
  return (exchange) =>
    exchange.readBody({
      onChunk: (_chunk, isLast) => {
        if (isLast) exchange.answerAndClose(answer, (delivery) => reported.push(delivery));
      },
      onAborted: () => reported.push('aborted'),
    });
}

t.test("[5.answer-first] 'sent' once the kernel has all of it, and the connection is closed", async (t) => {
  const reported: string[] = [];
  const { port } = await serve({ '/last': lastAnswer(reported) });
  const { text } = await ask(port, post('/last'));
  t.match(text, /^HTTP\/1\.1 200 OK\r\n/);
  t.match(text, /\r\nX-Kind: last\r\n/);
  t.match(text, /\r\nConnection: close\r\n/i);
  t.match(text, /\r\nContent-Length: 9\r\n/);
  t.match(text, /\r\n\r\nall of it$/);
  await until(() => reported.length > 0);
  t.strictSame(reported, ['sent']);
});

t.test("[5.answer-closed] 'closed' when the peer has gone before the answer", async (t) => {
  const reported: string[] = [];
  let exchange: Exchange | undefined;
  const { port } = await serve({
    '/held': (held) => {
      exchange = held;
    },
  });
  const socket = net.connect(port, '127.0.0.1');
  socket.write(post('/held'));
  await until(() => exchange !== undefined);
  socket.destroy();
  await until(() => exchange?.isOpen === false);
  exchange?.answerAndClose(ANSWER, (delivery) => reported.push(delivery));
  t.strictSame(reported, ['closed'], 'at once');
  await sleep(50);
  t.strictSame(reported, ['closed'], 'and once');
});

/** Writes two requests in one packet: uWebSockets.js closes the connection at the second, Node lets that wait. */
async function askTwice(port: number, path: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  let read = '';
  socket.on('data', (part) => {
    read += part.toString('latin1');
  });
  socket.write(post(path) + post(path));
  await new Promise((resolve) => socket.once('close', resolve));
  return read;
}

for (const [name, handlerOf, ending] of [
  [
    "'closed' when the peer goes in the turn before the answer",
    (reported: string[]): Handler =>
      (exchange) =>
        exchange.answerAndClose(ANSWER, (delivery) => reported.push(delivery)),
    'closed',
  ],
  ['nothing is begun where the connection ends together with the body', lastAnswer, 'aborted'],
] as const)
  t.test(`[5.answer-closed] ${name}`, async (t) => {
    const reported: string[] = [];
    const { port } = await serve({ '/last': handlerOf(reported) });
    const read = await askTwice(port, '/last');
    await until(() => reported.length > 0);
    await sleep(50);
    t.strictSame(reported, [DIFFERENCES.servesPipelined ? 'sent' : ending]);
    t.equal(read === '', !DIFFERENCES.servesPipelined);
    t.notMatch(read, /all of it.+all of it/s, 'the one behind a last answer is never served');
  });

t.test('[5.latest-500ms] nothing is reported while bytes are left over; they still arrive', async (t) => {
  const reported: string[] = [];
  const big = `${'x'.repeat(24 * 1024 * 1024)}all of it`;
  const { port, server } = await serve({
    '/last': lastAnswer(reported, { ...ANSWER, body: big }),
    '/other': (exchange) => exchange.answer({ ...ANSWER, isLast: true }),
  });
  const socket = net.connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  const handled = new Promise<void>((resolve) => socket.once('readable', resolve));
  socket.pause();
  socket.write(post('/last'));
  await handled;
  // Other connections that close at the same time are not mistaken for it.
  for (let i = 0; i < 5; i++) t.match((await ask(port, post('/other'))).text, /all of it$/);
  await sleep(200);
  t.strictSame(reported, []);
  let tail = '';
  let total = 0;
  socket.on('data', (part: Buffer) => {
    total += part.length;
    tail = (tail + part.toString('latin1')).slice(-200);
  });
  await new Promise((resolve) => socket.once('end', resolve));
  t.match(tail, /xall of it$/, 'the whole of it came when it was read');
  t.ok(total > big.length);
  await until(() => server.connections === 0);
  t.equal(server.connections, 0);
  t.strictSame(reported, DIFFERENCES.reportsLateDelivery ? ['sent'] : []);
});
