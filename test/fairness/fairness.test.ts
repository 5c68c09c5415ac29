/** Rates, places and turns: how often something may happen, how many at a time, by address and by network. */
import t from 'tap';
import { Clients, FairQueue } from '#src/fairness/fair-queue.js';
import { levelsOf, networkOf } from '#src/fairness/networks.js';
import { limitsPerAddress, Places } from '#src/fairness/places.js';
import { Rate } from '#src/fairness/rate.js';

const countOf = (rate: Rate, address: string, nowMs: number, count: number) =>
  Array.from({ length: count }, () => rate.take(address, nowMs)).filter((isTaken) => isTaken).length;

t.test('[2.unread] a burst, and what the elapsed time allows, separate for each address', async (t) => {
  const rate = new Rate({ perSecond: 3, burst: 6 });
  t.equal(countOf(rate, '10.0.0.1', 0, 9), 6);
  t.equal(countOf(rate, '10.0.0.2', 0, 9), 6);
  t.equal(countOf(rate, '10.0.0.1', 1000, 9), 3, 'what was refused is not counted');
  t.equal(countOf(rate, '10.0.0.1', 100_000, 9), 6, 'never more than the burst');
});

t.test('[2.unread] an address of a /64 does not take the rate of its neighbours', async (t) => {
  const rate = new Rate({ perSecond: 3, burst: 3 });
  t.equal(countOf(rate, 'fe80::1%eth0', 0, 50), 3);
  t.equal(countOf(rate, 'fe80::2', 0, 50), 3);
  // A host that invents addresses: four times the rate of one.
  let invented = 0;
  for (let i = 16; i < 80; i++) invented += countOf(rate, `fe80::${i.toString(16)}`, 0, 1);
  t.equal(invented, 6);
  t.equal(countOf(rate, 'fe80:0:0:1::1', 0, 50), 3, 'another network');
});

t.test('its memory is bounded: the key that was not used for longest is forgotten', async (t) => {
  const rate = new Rate({ perSecond: 0, burst: 1 });
  for (let i = 0; i < 2000; i++) t.ok(rate.take(`key ${i}`, 0) || i);
  t.notOk(rate.take('key 0', 0), 'it is known');
  rate.take('one more', 0);
  t.ok(rate.take('key 1', 0), 'it was forgotten');
  t.notOk(rate.take('key 0', 0));
});

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

const only = (client: string) => new Clients(client);

function takeAll(queue: FairQueue<string>): readonly string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

t.test('one item of each client in turn', async (t) => {
  const queue = new FairQueue<string>(100);
  for (const item of ['a1', 'a2', 'a3']) queue.add(item, only('192.0.2.1'));
  queue.add('b1', only('192.0.2.2'));
  queue.add('b2', only('192.0.2.2'));
  t.strictSame(takeAll(queue), ['a1', 'b1', 'a2', 'b2', 'a3']);
});

t.test('the addresses of a /64, and the clients of a hub, share the turns of one', async (t) => {
  const queue = new FairQueue<string>(100);
  for (let i = 0; i < 4; i++) queue.add(`v6 ${i}`, only(`2001:db8::${i}`));
  for (let i = 0; i < 3; i++) queue.add(`hub ${i}`, only(`home|192.0.2.${i}`));
  queue.add('other', only('192.0.2.1'));
  t.strictSame(takeAll(queue), ['v6 0', 'hub 0', 'other', 'v6 1', 'hub 1', 'v6 2', 'hub 2', 'v6 3']);
});

t.test('a full queue drops the newest item of the client with most', async (t) => {
  const queue = new FairQueue<string>(4);
  for (let i = 0; i < 4; i++) t.equal(queue.add(`a${i}`, only('192.0.2.1')), undefined);
  t.equal(queue.add('a4', only('192.0.2.1')), 'a4', 'its own');
  t.equal(queue.add('b0', only('192.0.2.2')), 'a3', 'another client gets in');
  t.equal(queue.add('b1', only('192.0.2.2')), 'a2');
  t.equal(queue.add('b2', only('192.0.2.2')), 'b2', 'until it has as many');
  t.equal(queue.add('c0', only('192.0.2.3')), 'b1');
  t.strictSame(takeAll(queue), ['a0', 'b0', 'c0', 'a1']);
  // A host that invents addresses keeps no other client out.
  for (let i = 0; i < 4; i++) queue.add(`v6 ${i}`, only(`2001:db8::${i}`));
  t.equal(queue.add('v6 4', only('2001:db8::4')), 'v6 4');
  t.equal(queue.add('honest', only('192.0.2.9')), 'v6 3');
});

t.test('an item that several wait for is due when one of them is, and is dropped last', async (t) => {
  const queue = new FairQueue<string>(4);
  for (let i = 0; i < 3; i++) queue.add(`a${i}`, only('192.0.2.1'));
  const shared = only('192.0.2.1');
  queue.add('shared', shared);
  shared.join('192.0.2.2');
  t.equal(queue.add('c', only('192.0.2.3')), 'a2');
  t.strictSame(takeAll(queue), ['a0', 'shared', 'c', 'a1']);
});

t.test('an item that is not ready keeps its place; a removed one does not wait', async (t) => {
  const queue = new FairQueue<string>(4);
  queue.add('a', only('192.0.2.1'));
  queue.add('b', only('192.0.2.2'));
  t.equal(
    queue.take((item) => item !== 'a'),
    'b',
  );
  t.equal(queue.size, 1);
  t.ok(queue.remove('a'));
  t.notOk(queue.remove('a'));
  t.equal(queue.take(), undefined);
});
