/** How often something may happen: by address, and by network. */
import t from 'tap';
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
