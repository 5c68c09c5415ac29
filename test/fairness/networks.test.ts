/** The network of an address. */
import t from 'tap';
import { levelsOf, networkOf } from '#src/fairness/networks.js';

t.test('[4.streams-proxied] the network of an address', async (t) => {
  const cases: readonly (readonly [address: string, network: string])[] = [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
    ['0000:0000:0000:0000:0000:ffff:c000:0207', '0000:0000:0000:0000:0000:ffff:c000:0207'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:0000:0000:0000:0001', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    // The zeros that are left out are within the network, and end before its end.
    ['2001:db8::3:4:5:6:7', '2001:db8:0:3::/64'],
    ['2001::2:3:4:5:6:7', '2001:0:2:3::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['fe80::2', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1:2:3::', '1:2:3:0::/64'],
    ['broker.lan:1883', 'broker.lan:1883'],
    ['', ''],
  ];
  for (const [address, network] of cases) t.equal(networkOf(address), network, address);
  t.strictSame(levelsOf('192.0.2.7'), ['192.0.2.7']);
  t.strictSame(levelsOf('::1'), ['::1', '0:0:0:0::/64']);
});
