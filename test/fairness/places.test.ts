/** A limit of all clients is never used up by one address, one network, or the clients without the key. */
import t from 'tap';
import { limitsPerAddress, Places } from '#src/fairness/places.js';

function fill(room: Places, address: string, isKeyed = false): number {
  let taken = 0;
  while (taken < 1000 && room.hasCapacity({ address, isKeyed })) {
    room.add({ address, isKeyed });
    taken++;
  }
  return taken;
}

t.test('an address has a quarter, a /64 half, clients without the key three quarters', async (t) => {
  const room = new Places(16);
  t.equal(fill(room, '192.0.2.1'), 4);
  t.equal(fill(room, 'fe80::1'), 4);
  t.equal(fill(room, 'fe80::2'), 4);
  t.equal(fill(room, 'fe80::3'), 0, 'half for one network');
  t.equal(fill(room, '192.0.2.2'), 0, 'three quarters for all of them');
  t.equal(fill(room, '192.0.2.3', true), 4, 'the rest is for clients with the key');
  t.equal(room.size, 16);
  room.remove({ address: '192.0.2.1', isKeyed: false });
  t.equal(fill(room, '192.0.2.2'), 1);
});

t.test('small limits: everyone may have one', async (t) => {
  t.equal(fill(new Places(1), '192.0.2.1'), 1);
  t.equal(fill(new Places(2), 'fe80::1'), 1);
});

t.test('[4.streams-proxied] an IPv6 address has its limit, its /64 four times as much', async (t) => {
  const places = new Places(() => limitsPerAddress(Number.POSITIVE_INFINITY, 10));
  t.equal(fill(places, 'fe80::bad'), 10);
  t.equal(fill(places, 'fe80::1'), 10, 'a neighbour has all of its own');
  let invented = 0;
  for (let i = 100; i < 200; i++) invented += fill(places, `fe80::${i}`);
  t.equal(invented, 20, 'a host that invents addresses is bounded');
  t.equal(fill(places, '2001:db8::1'), 10);
  t.equal(fill(places, '192.0.2.7'), 10);
  t.strictSame([places.size, places.of('fe80::1'), places.of('fe80:0:0:0::/64')], [60, 10, 40]);
  for (let i = 0; i < 10; i++) places.remove({ address: 'fe80::1', isKeyed: false });
  t.strictSame([places.of('fe80::1'), places.of('fe80:0:0:0::/64')], [0, 30]);
});

t.test('[4.streams-per-address] one address leaves a quarter to others', async (t) => {
  const streams = (max: number, keyless?: number) => new Places(() => limitsPerAddress(max, 256, keyless));
  const places = streams(100);
  t.equal(fill(places, '192.0.2.1'), 75);
  t.equal(fill(places, '192.0.2.2'), 25);
  t.equal(fill(streams(60), '192.0.2.1'), 60, 'where there is room for many only');
  const invented = streams(100);
  for (let i = 0; i < 1000; i++) {
    const guest = { address: `2001:db8::${i.toString(16)}`, isKeyed: false };
    if (invented.hasCapacity(guest)) invented.add(guest);
  }
  t.equal(invented.size, 75, 'a host that invents IPv6 addresses leaves it too');
  const keyed = streams(100, 88);
  for (let i = 0; i < 200; i++) fill(keyed, `192.0.2.${i}`);
  t.equal(keyed.size, 88);
  t.equal(fill(keyed, '198.51.100.1', true), 12, 'the last ones are for clients with the key');
});
