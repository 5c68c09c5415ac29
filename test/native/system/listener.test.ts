/** The tuning of the listening socket, as `ss` shows it, also for IPv6, and its connections. */
import '../../helpers/service/dead-buses.ts';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import t from 'tap';
import { openNativeHost } from '#src/host/native.js';
import { checkByAddress, checkTuned, connectPair, startListener } from '../../helpers/native/listeners.ts';

const host = openNativeHost();
const hasIpv6 = Object.values(os.networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);
const skip = !hasIpv6 && 'this machine has no ::1';

function ss(...args: readonly string[]): string {
  return execFileSync('ss', ['-Hn', ...args], { encoding: 'utf8' });
}

t.test('only the listening sockets on the port are counted, IPv6 also', { skip }, (t) =>
  checkTuned(t, '::1'),
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

t.test('accepted connections inherit the send buffer', async (t) => {
  const { server, port } = await startListener(t);
  t.equal(host.tuneListener(port, { sendBufferBytes: 131_072 }), 1);
  await connectPair(t, server, port);
  // The kernel doubles the size that is asked for.
  t.match(ss('-tnom', `sport = :${port}`), /tb262144/);
});

t.test('[1.connections] counted by address, IPv4 also where it is mapped', { skip }, (t) =>
  checkByAddress(t, '::', ['127.0.0.1', '127.0.0.2', '127.0.0.2', '::1']),
);
