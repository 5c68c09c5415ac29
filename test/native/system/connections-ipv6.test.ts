/** The connections of a port that listens on every address of both families. */
import os from 'node:os';
import t from 'tap';
import { connect, connectionsOf, listen } from '../../helpers/native/listeners.ts';

const hasIpv6 = Object.values(os.networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

t.test(
  '[1.connections] counted by address, IPv4 also where it is mapped',
  { skip: !hasIpv6 && 'this machine has no ::1' },
  async (t) => {
    const { port, accepted } = await listen(t, '::');
    for (const from of ['127.0.0.1', '127.0.0.2', '127.0.0.2']) await connect(t, port, from);
    await connect(t, port, '::1', '::1');
    const clients = await connectionsOf(port, () => accepted.length === 4);
    const byAddress = new Map(clients.map(({ address, connections }) => [address, connections]));
    t.equal(byAddress.get('127.0.0.1'), 1);
    t.equal(byAddress.get('127.0.0.2'), 2);
    t.equal(byAddress.get('::1'), 1, 'the whole address');
  },
);
