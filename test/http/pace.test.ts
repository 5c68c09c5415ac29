/** Counting by client address: how many there are now, and how often something happens. */
import t from 'tap';
import { networkOf, parsePeer } from '#src/access/addresses.js';
import { Pace } from '#src/http/clients/pace.js';
import { Tally } from '#src/http/clients/tally.js';

t.test('[2.unread] so many within a window, each address by itself', async (t) => {
  let now = 0;
  const pace = new Pace(3, 1000, () => now);
  const taken = (address: string) => Array.from({ length: 5 }, () => pace.take(address));
  t.strictSame(taken('10.0.0.1'), [true, true, true, false, false]);
  t.strictSame(taken('10.0.0.2'), [true, true, true, false, false]);
  now = 999;
  t.equal(pace.take('10.0.0.1'), false);
  now = 1000;
  t.strictSame(taken('10.0.0.1'), [true, true, true, false, false], 'the next window');
});

t.test('[4.streams-per-address] what is there now, by address', async (t) => {
  const tally = new Tally();
  for (const address of ['a', 'b', 'a']) tally.add(address);
  t.strictSame([tally.of('a'), tally.of('b'), tally.of('c')], [2, 1, 0]);
  tally.remove('a');
  tally.remove('b');
  t.strictSame([tally.of('a'), tally.of('b')], [1, 0]);
});

t.test('[4.streams-proxied] one client is an IPv4 address, or 64 bits of an IPv6 address', async (t) => {
  const network = (text: string) => networkOf(parsePeer(text)?.text ?? 'none');
  t.equal(network('192.0.2.7'), '192.0.2.7');
  t.equal(network('::ffff:192.0.2.7'), '192.0.2.7');
  t.equal(network('0000:0000:0000:0000:0000:ffff:c000:0207'), '192.0.2.7');
  t.equal(network('2001:db8:1:2:3:4:5:6'), network('2001:db8:1:2::1'));
  t.not(network('2001:db8:1:2::1'), network('2001:db8:1:3::1'));
  t.equal(network('fe80::1%eth0'), network('fe80::2'));
  t.not(network('::1'), '127.0.0.1');
});
