/** The tuning of the listening socket, as `ss` shows it, also for IPv6, and its connections. */
import '../../helpers/service/dead-buses.ts';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import t from 'tap';
import { openNativeHost } from '#src/host/native.js';
import {
  connect,
  connectionsOf,
  connectPair,
  listen,
  startListener,
} from '../../helpers/native/listeners.ts';

const host = openNativeHost();
const hasIpv6 = Object.values(os.networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

function ss(...args: readonly string[]): string {
  return execFileSync('ss', ['-Hn', ...args], { encoding: 'utf8' });
}

t.test(
  'only the listening sockets on the port are counted, IPv6 also',
  { skip: !hasIpv6 && 'this machine has no ::1' },
  async (t) => {
    const first = await startListener(t);
    const second = await startListener(t, '::1');
    const { accepted } = await connectPair(t, first.server, first.port);
    t.equal(accepted.localPort, first.port, 'a connection has that port too');
    t.equal(host.tuneListener(first.port, {}), 1);
    t.equal(host.tuneListener(second.port, { backlog: 100 }), 1, 'IPv6');
    const both = net.createServer();
    t.teardown(() => both.close());
    both.listen(first.port, '::1');
    await once(both, 'listening');
    t.equal(host.tuneListener(first.port, {}), 2, 'two sockets on one port');
    second.server.close();
    await once(second.server, 'close');
    t.equal(host.tuneListener(second.port, {}), 0, 'none after it is closed');
    t.equal(host.tuneListener(0, {}), 0);
  },
);

t.test('the receive buffer is inherited: it bounds what one read returns', async (t) => {
  const { server, port } = await startListener(t);
  t.equal(host.tuneListener(port, { receiveBufferBytes: 32 * 1024 }), 1);
  await connectPair(t, server, port);
  // The kernel takes twice the number, socket(7).
  t.match(ss('-tm', `sport = :${port}`), /\brb65536\b/);
});

t.test('the backlog is raised', async (t) => {
  const { port } = await startListener(t);
  const most = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  const backlog = () => Number(ss('-ltn', `sport = :${port}`).trim().split(/\s+/)[2]);
  t.equal(backlog(), Math.min(511, most), 'what Node asked for');
  t.equal(host.tuneListener(port, { backlog: 2000 }), 1);
  t.equal(backlog(), Math.min(2000, most));
});

t.test('accepted connections inherit keepalive and the send buffer', async (t) => {
  const { server, port } = await startListener(t);
  const options = { keepAliveIdleSeconds: 77, keepAliveIntervalSeconds: 5, keepAliveProbes: 3 };
  const state = () => ss('-tnom', `sport = :${port}`);
  const plain = await connectPair(t, server, port);
  t.notMatch(state(), /keepalive/);
  plain.client.destroy();
  await once(plain.accepted, 'close');
  t.equal(host.tuneListener(port, { ...options, sendBufferBytes: 131_072 }), 1);
  await connectPair(t, server, port);
  t.match(state(), /timer:\(keepalive,1min\d\dsec,0\)/, 'a timer of 77 s is running');
  t.match(state(), /tb262144/, 'the kernel doubles the size that is asked for');
});

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
