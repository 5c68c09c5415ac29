/** A server that sends without an end: what a client takes of it, how it says so, and when it asks again. */
import net from 'node:net';
import t, { type Test } from 'tap';
import { WebSocketServer } from 'ws';
import { openLink } from '#src/cli/top/open.js';
import { request, streamStats } from '#src/client/client.js';
import { listen } from '../helpers/clients/listen.ts';
import { settle } from '../helpers/fakes/clock.ts';
import { startSocket } from './socket-setup.ts';

const MEGABYTE = 1024 * 1024;
/** The limit, what sockets buffer on both sides, and a piece more. */
const MOST_SENT = 32 * MEGABYTE;

/** Answers each connection with `head`, and with `piece` again and again, up to 256 MiB. */
async function startEndless(t: Test, head: string, piece: string) {
  const bytes = Buffer.from(piece.repeat(Math.ceil((64 * 1024) / piece.length)));
  const sent: number[] = [];
  const server = net.createServer((socket) => {
    const at = sent.push(0) - 1;
    const write = () => {
      while ((sent[at] ?? 0) < 256 * MEGABYTE) {
        sent[at] = (sent[at] ?? 0) + bytes.length;
        if (!socket.write(bytes)) return;
      }
      socket.end();
    };
    socket.on('error', () => socket.destroy());
    socket.on('drain', write);
    socket.once('data', () => {
      socket.write(head);
      write();
    });
  });
  return { url: `http://127.0.0.1:${await listen(t, server)}`, sent };
}

t.test('an answer without an end rejects', async (t) => {
  for (const [status, piece, error] of [
    ['200 OK', '[', { code: 'too_large', message: 'an answer of the service is longer than 16 MiB' }],
    ['500 Oops', '[', { code: 'refused', status: 500, message: 'the service answered 500' }],
    ['401 Oops', ' ', { code: 'unauthorized', status: 401 }],
  ] as const) {
    const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\n\r\n`;
    const { url, sent } = await startEndless(t, head, piece);
    await t.rejects(request('/api/usage', { url }), error);
    t.ok((sent[0] ?? 0) < MOST_SENT, `${sent} bytes were sent`);
  }
});

t.test(
  'a stream whose event has no end is closed with the reason, and asked for again after delays',
  async (t) => {
    for (const [name, piece] of [
      ['a line', 'data'],
      ['lines of data', `data: ${'x'.repeat(100)}\n`],
    ] as const) {
      const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n';
      const { url, sent } = await startEndless(t, head, piece);
      const waits = await new Promise<readonly { code: string; message: string; delayMs: number }[]>(
        (resolve) => {
          const found: { code: string; message: string; delayMs: number }[] = [];
          const stream = streamStats({
            url,
            onSample: () => t.fail('there is no sample'),
            onState(state) {
              if (state.state !== 'waiting') return;
              const { code, message } = state.error;
              found.push({ code, message, delayMs: state.delayMs });
              if (found.length < 2) return;
              stream.close();
              resolve(found);
            },
          });
        },
      );
      for (const { code, message } of waits)
        t.match(
          { code, message },
          { code: 'too_large', message: /^an event of the service is longer than 16 MiB$/ },
          name,
        );
      // The least of the first delay; it doubles unless a slow machine took 5 s for the stream.
      for (const { delayMs } of waits) t.ok(delayMs >= 125, `${name}: waits ${delayMs} ms`);
      for (const bytes of sent) t.ok(bytes < MOST_SENT, `${name}: ${bytes} bytes were sent`);
    }
  },
);

t.test('a message of a socket that is too long closes it with the reason', async (t) => {
  const { newest, states, clock, made } = await startSocket(t);
  newest().emit('message', { data: 'x'.repeat(16 * MEGABYTE + 1) });
  await settle();
  t.ok(newest().isClosed);
  // Why there was no greeting is asked over HTTP, until that is over as well.
  await clock.advance(10_000);
  t.match(states.at(-1), { state: 'waiting', error: { code: 'too_large' } });
  t.equal(made.length, 1, 'not at once');
});

t.test(
  'with the package ws, a message is refused by its head, or by the number of its fragments',
  async (t) => {
    for (const [name, send] of [
      ['long', (socket: net.Socket) => socket.write(Buffer.from([0x81, 127, 0, 0, 0, 0, 0xff, 0, 0, 0]))],
      [
        'in fragments',
        (socket: net.Socket) =>
          socket.write(
            Buffer.concat([Buffer.from([1, 1, 0x78]), Buffer.alloc(3 * 2000, Buffer.from([0, 1, 0x78]))]),
          ),
      ],
    ] as const) {
      const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
      server.on('connection', (socket, { socket: raw }) => {
        socket.on('error', () => undefined);
        socket.send(JSON.stringify({ type: 'connected', data: { version: '1', protocol: 2, features: {} } }));
        // After the frame that ws has written.
        send(raw);
      });
      const target = { url: `http://127.0.0.1:${await listen(t, server)}`, key: undefined, pin: undefined };
      const socket = (await openLink(target)).open();
      t.teardown(() => socket.close());
      const error = await new Promise<{ readonly code: string }>((resolve) => {
        socket.on('state', (state) => {
          if (state.state === 'waiting') resolve(state.error);
        });
      });
      t.match(
        error,
        { code: 'too_large', message: /^a message of the service is longer than 16 MiB$/ },
        name,
      );
    }
  },
);
