/** A WebSocket that this side opens: its request, its frames, and why it ends. */
import { once } from 'node:events';
import net from 'node:net';
import t, { type Test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Failure } from '#src/socket/carrier.js';
import { Dial, type DialOptions, type DialRequest } from '#src/socket/dial.js';
import { peerTargetOf } from '#src/socket/web-socket.js';
import { listen as listenAt } from '../helpers/clients/listen.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { until } from '../helpers/until.ts';

const KEY = 'k'.repeat(40);

interface Options extends Partial<Omit<DialOptions, 'clock'>> {
  readonly target?: DialRequest['target'];
  readonly port: number;
  readonly clock?: FakeClock;
}

/** A Dial to a port of this machine, with what it reports. */
function dial(t: Test, { port, target, clock = new FakeClock(), ...more }: Options) {
  const frames: string[] = [];
  const ends: Failure[] = [];
  let opened = 0;
  const usual = peerTargetOf(`ws://127.0.0.1:${port}/prefix`, undefined);
  const request: DialRequest = { target: target ?? usual, path: '/api/agent?id=pc', key: KEY };
  const options: DialOptions = {
    userAgent: 'hostwire',
    maxFrameBytes: 1024,
    isOneOfMany: false,
    limitMs: 5000,
    silenceMs: 20_000,
    pinKey: 'hub.pin',
    clock,
    ...more,
  };
  const carrier = new Dial(request, options, {
    onOpen: () => opened++,
    onFrame: (bytes) => frames.push(bytes.toString()),
    onControl: () => frames.push('(control)'),
    onEnd: (failure) => ends.push(failure),
  });
  t.teardown(() => carrier.end(''));
  return {
    carrier,
    clock,
    frames,
    ends,
    opened: () => opened > 0 || undefined,
    ended: () => until(() => ends[0]),
  };
}

async function listen(t: Test) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  let accepted = 0;
  const sockets: WebSocket[] = [];
  const requests: { readonly url: string | undefined; readonly authorization: string | undefined }[] = [];
  server.on('connection', (socket, { url, headers }) => {
    sockets.push(socket);
    requests.push({ url, authorization: headers.authorization });
  });
  return {
    port: await listenAt(t, server),
    requests,
    accepted: () => until(() => (sockets.length > accepted ? sockets[accepted++] : undefined)),
  };
}

/** A server of one answer, which keeps what it was sent. */
async function answering(t: Test, answer: string) {
  let heard = '';
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard += chunk.toString();
      socket.end(answer);
    });
  });
  return { port: await listenAt(t, server), heard: () => heard };
}

t.test('sends the key and the path with the upgrade, then frames both ways', async (t) => {
  const server = await listen(t);
  const { carrier, frames, opened } = dial(t, server);
  t.equal(carrier.isOpen, false);
  const socket = await server.accepted();
  t.same(server.requests, [{ url: '/prefix/api/agent?id=pc', authorization: `Bearer ${KEY}` }]);
  await until(opened);
  t.equal(carrier.peerAddress, '127.0.0.1');
  const [heard] = await Promise.all([
    once(socket, 'message'),
    new Promise<void>((resolve) => carrier.send('{"a":1}', resolve)),
  ]);
  t.equal(String(heard[0]), '{"a":1}');
  socket.send('one');
  socket.ping();
  socket.send('two');
  await until(() => frames.length === 3 || undefined);
  t.same(frames, ['one', '(control)', 'two'], 'in order');
});

t.test('an end is a farewell, and is not reported', async (t) => {
  const server = await listen(t);
  const { carrier, ends, opened } = dial(t, server);
  const socket = await server.accepted();
  await until(opened);
  const closed = once(socket, 'close');
  const heard = once(socket, 'message');
  carrier.send('last');
  carrier.end('bye');
  t.equal(String((await heard)[0]), 'last');
  const [code, reason] = await closed;
  t.same([code, String(reason)], [1000, 'bye']);
  t.same([carrier.isOpen, ends], [false, []]);
});

t.test('why it ends: binary frames, long ones, a close frame', async (t) => {
  const cases: readonly [(socket: WebSocket) => void, Partial<Failure>][] = [
    [(socket) => socket.send(Buffer.from('x')), { reason: 'it sent a malformed message' }],
    [(socket) => socket.send('x'.repeat(1025)), { reason: 'it sent a malformed message' }],
    [
      (socket) => socket.close(1008, 'too many messages'),
      { reason: 'it closed the connection: too many messages' },
    ],
    [(socket) => socket.close(1008, '\u001b[2J'), { reason: 'it closed the connection' }],
    [(socket) => socket.terminate(), { reason: 'the connection was lost' }],
  ];
  const server = await listen(t);
  for (const [act, expected] of cases) {
    const { ended, opened, ends } = dial(t, server);
    await until(opened);
    act(await server.accepted());
    t.match(await ended(), { isRefusal: false, ...expected });
    t.equal(ends.length, 1, 'once');
  }
});

t.test('why an upgrade fails, by its status', async (t) => {
  const head = (status: string, more = '') => `HTTP/1.1 ${status}\r\n${more}Content-Length: 0\r\n\r\n`;
  const json = 'Content-Type: application/json\r\n';
  const reasons = { 404: 'this hub has no such machine (404)', 503: 'it has no room (503)' };
  for (const [answer, failure] of [
    [head('401 No'), { isRefusal: true, reason: 'it requires a key, or rejected this one (401)' }],
    [
      head('403 No', 'X-Required-Scope: hub\r\n'),
      { isRefusal: true, reason: 'it needs a key with the scope hub (403)' },
    ],
    [head('403 No'), { isRefusal: true, reason: 'it does not allow this address or host name (403)' }],
    [head('404 No', json), { isRefusal: false, reason: reasons[404] }],
    [head('404 No'), { isRefusal: false, reason: 'the server at this URL is not hostwire' }],
    [head('503 No'), { isRefusal: false, reason: reasons[503] }],
    [head('500 No'), { isRefusal: false, reason: 'it answered with status 500' }],
    ['SSH-2.0-x\r\n', { isRefusal: false, reason: 'the server at this URL is not hostwire' }],
  ] as const) {
    const { port } = await answering(t, answer);
    t.same(await dial(t, { port, reasons }).ended(), failure);
  }
});

t.test('a refused address is sent nothing', async (t) => {
  const server = await answering(t, '');
  const addresses: string[] = [];
  const refuse = (address: string) => {
    addresses.push(address);
    return { isRefusal: true, reason: 'not here' };
  };
  t.same(await dial(t, { port: server.port, refuse }).ended(), { isRefusal: true, reason: 'not here' });
  t.same(addresses, ['127.0.0.1']);
  t.equal(server.heard(), '');
});

t.test('a server that does not answer, and one that falls silent', async (t) => {
  const silent = net.createServer((socket) => socket.on('error', () => undefined));
  const first = dial(t, { port: await listenAt(t, silent) });
  await once(silent, 'connection');
  await first.clock.advance(5000);
  t.match(await first.ended(), { reason: 'no answer in time' });

  const server = await listen(t);
  const { carrier, clock, ends, opened } = dial(t, server);
  const socket = await server.accepted();
  await until(opened);
  carrier.look(clock.now());
  const ping = once(socket, 'ping');
  await clock.advance(5000);
  carrier.look(clock.now());
  await ping;
  t.same(ends, [], 'asked first');
  await clock.advance(30_000);
  // It may have received the pong.
  carrier.look(clock.now());
  await clock.advance(15_001);
  carrier.look(clock.now());
  t.match(ends, [{ reason: 'no message within the timeout' }]);
});
