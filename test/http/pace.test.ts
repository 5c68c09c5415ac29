/** Counting by client address: how many there are now, and how often something happens. */
import t from 'tap';
import { CountsByKey } from '#src/http/clients/counts-by-key.js';
import { Pace } from '#src/http/clients/pace.js';

t.test('[2.unread] a limit per window, separate for each address', async (t) => {
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

t.test('[4.streams-per-address] current counts by address', async (t) => {
  const counts = new CountsByKey();
  for (const address of ['a', 'b', 'a']) counts.add(address);
  t.strictSame([counts.of('a'), counts.of('b'), counts.of('c')], [2, 1, 0]);
  counts.remove('a');
  counts.remove('b');
  t.strictSame([counts.of('a'), counts.of('b')], [1, 0]);
});

t.test('[2.unread] an address of a /64 does not take the pace of its neighbours', async (t) => {
  const pace = new Pace(3, 1000, () => 0);
  const taken = (address: string, count: number) =>
    Array.from({ length: count }, () => pace.take(address)).filter((isTaken) => isTaken).length;
  t.equal(taken('fe80::1%eth0', 50), 3);
  t.equal(taken('fe80::2', 50), 3);
  // A host that invents addresses: four times the pace of one.
  let invented = 0;
  for (let i = 16; i < 80; i++) invented += taken(`fe80::${i.toString(16)}`, 1);
  t.equal(invented, 6);
  t.equal(taken('fe80:0:0:1::1', 50), 3, 'another network');
});
