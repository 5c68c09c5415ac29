/** Counts by address and by network: neighbours in one IPv6 /64 do not share the limit of an address. */
import t from 'tap';
import { AddressCounts, levelsOf, networkOf } from '#src/fairness/address-counts.js';

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

t.test('[4.streams-proxied] an IPv6 address has its limit, its /64 four times as much', async (t) => {
  const counts = new AddressCounts();
  const fill = (address: string) => {
    let taken = 0;
    while (counts.hasCapacity(address, 10)) {
      counts.add(address);
      taken++;
    }
    return taken;
  };
  t.equal(fill('fe80::bad'), 10);
  t.equal(fill('fe80::1'), 10, 'a neighbour has all of its own');
  let invented = 0;
  for (let i = 100; i < 200; i++) invented += fill(`fe80::${i}`);
  t.equal(invented, 20, 'a host that invents addresses is bounded');
  t.equal(fill('2001:db8::1'), 10);
  t.equal(fill('192.0.2.7'), 10);
  t.strictSame([counts.total, counts.of('fe80::1'), counts.of('fe80:0:0:0::/64')], [60, 10, 40]);
  for (const [address, count] of [...counts.addresses()])
    for (let i = 0; i < count; i++) counts.remove(address);
  counts.remove('192.0.2.7');
  t.strictSame([counts.total, [...counts.addresses()].length, counts.of('fe80:0:0:0::/64')], [0, 0, 0]);
});
