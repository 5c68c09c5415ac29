/** All connections of a port as the kernel knows them: real sockets on loopback. */
import '../helpers/service/dead-buses.ts';
import t from 'tap';
import { connect, connectionsOf, listen } from '../helpers/native/listeners.ts';

t.test('[1.connections] counted by address', async (t) => {
  const { port, accepted } = await listen(t, '127.0.0.1');
  for (const from of ['127.0.0.1', '127.0.0.2', '127.0.0.2']) await connect(t, port, from);
  const clients = await connectionsOf(port, () => accepted.length === 3);
  const byAddress = new Map(clients.map(({ address, connections }) => [address, connections]));
  t.strictSame(
    [...byAddress].sort(),
    [
      ['127.0.0.1', 1],
      ['127.0.0.2', 2],
    ],
    'the whole address',
  );
});
