/** All connections of a port as the kernel knows them: real sockets on loopback. */
import '../helpers/service/dead-buses.ts';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import t from 'tap';
import { openNativeHost } from '#src/host/native.js';
import { connect, connectionsOf, listen } from '../helpers/native/listeners.ts';

const host = openNativeHost();

t.test('[1.connections] counted by address', async (t) => {
  const { port, accepted } = await listen(t, '127.0.0.1');
  for (const from of ['127.0.0.1', '127.0.0.2', '127.0.0.2']) await connect(t, port, from);
  const { clients, halfClosed, unanswered } = await connectionsOf(port, () => accepted.length === 3);
  const byAddress = new Map(clients.map(({ address, connections }) => [address, connections]));
  t.strictSame(
    [...byAddress].sort(),
    [
      ['127.0.0.1', 1],
      ['127.0.0.2', 2],
    ],
    'the whole address',
  );
  t.same([halfClosed, unanswered], [[], []]);
});

t.test('[1.half-closed] closed here and not there: listed after the time asked for, and cut', async (t) => {
  const { port, accepted } = await listen(t, '127.0.0.1');
  const stays = await connect(t, port, '127.0.0.1');
  await connect(t, port, '127.0.0.3');
  const { clients } = await connectionsOf(port, () => accepted.length === 2);
  t.equal(clients.length, 2);
  const [half] = accepted;
  half?.end('good-bye');
  const { halfClosed } = await connectionsOf(port, (found) => found.halfClosed.length > 0);
  t.equal(halfClosed.length, 1, 'the other one is open');
  const [{ descriptor = -1, cookie = 0n } = {}] = halfClosed;
  t.equal(host.cutConnections([{ descriptor, cookie: cookie + 1n }]), 0, 'another connection');
  const file = openSync('/dev/null', 'r');
  t.equal(host.cutConnections([{ descriptor: file, cookie }]), 0, 'no connection');
  closeSync(file);
  t.equal(host.cutConnections(halfClosed), 1);
  stays.resume();
  if (half !== undefined && !half.closed) await once(half, 'close');
  const left = await host.readConnections(port, { halfClosedMs: 0, unansweredBytes: 0 });
  t.same(
    left.clients.map(({ address }) => address),
    ['127.0.0.3'],
  );
});

t.test('[2.unfinished] bytes received beyond those sent', async (t) => {
  const { port, accepted } = await listen(t, '127.0.0.1');
  const talks = await connect(t, port, '127.0.0.1');
  const hoards = await connect(t, port, '127.0.0.4');
  await connectionsOf(port, () => accepted.length === 2);
  talks.write('x'.repeat(900));
  hoards.write('x'.repeat(50_000));
  const { unanswered } = await connectionsOf(port, (found) => (found.unanswered[0]?.bytes ?? 0) >= 50_000);
  t.equal(unanswered.length, 1);
  t.match(unanswered, [{ address: '127.0.0.4', bytes: 50_000 }]);
  for (const socket of accepted) socket.write('y'.repeat(60_000));
  hoards.resume();
  const after = await connectionsOf(port, (found) => found.unanswered.length === 0);
  t.equal(after.clients.length, 2, 'answered, so no longer listed');
});
