/** A query with thousands of keys is read in one pass. */
import t from 'tap';
import { paramsOf } from '#src/machine/query.js';
import { LONG, scansOf } from '../helpers/scans.ts';

/** One pass takes 50; one for each of 4,000 keys took 5,000. */
const MAX_SCANS = 1000;
const TYPES = { numbers: ['n'], booleans: ['b'] };

t.test('the time of a query is in proportion to its length', async (t) => {
  const keys: string[] = [];
  for (let length = 0; length < LONG - 500; length += (keys.at(-1) ?? '').length + 1)
    keys.push(keys.length.toString(36));
  const query = new URLSearchParams(keys.join('&'));
  const scans = scansOf(() => paramsOf(query, TYPES), MAX_SCANS);
  t.ok(scans <= MAX_SCANS, `${keys.length} keys, ${scans.toFixed(0)} scans`);
  t.equal(Object.keys(paramsOf(query, TYPES)).length, keys.length);
});

t.test('keys keep their order, and the values of a repeated one theirs', async (t) => {
  const params = paramsOf(new URLSearchParams('x=1&n=2&b=1&x=&n=3&y=4&x=5&c=true'), TYPES);
  t.strictSame(Object.entries(params), [
    ['x', ['1', '', '5']],
    ['n', ['2', '3']],
    ['b', true],
    ['y', '4'],
    ['c', 'true'],
  ]);
});
