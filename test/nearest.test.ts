/** Edit distance and the nearest word. */
import t from 'tap';
import { editDistance, findNearest } from '#src/nearest.js';

/** The textbook recursion (optimal string alignment), slow and plain. */
function slowly(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const cost = a.at(-1) === b.at(-1) ? 0 : 1;
  const [x, y] = [a.slice(0, -1), b.slice(0, -1)];
  const best = Math.min(slowly(x, b) + 1, slowly(a, y) + 1, slowly(x, y) + cost);
  const isSwap = a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1);
  return isSwap ? Math.min(best, slowly(a.slice(0, -2), b.slice(0, -2)) + 1) : best;
}

t.test('edit distance: add, drop, change, swap', async (t) => {
  const words = [
    '',
    'a',
    'ab',
    'ba',
    'abc',
    'acb',
    'cab',
    'abcd',
    'badc',
    'xbcd',
    'abdc',
    'dcba',
    'abcde',
    'bacde',
    'aabb',
    'bbaa',
    'abab',
  ];
  for (const a of words)
    for (const b of words) {
      const exact = slowly(a, b);
      for (const limit of [0, 1, 2, 3, 9])
        t.equal(editDistance(a, b, limit), Math.min(exact, limit + 1), `${a} ${b} ${limit}`);
    }
});

t.test('the nearest candidate within its limit, the first of equals', async (t) => {
  const most = (limit: number) => () => limit;
  t.equal(findNearest('prot', ['host', 'port', 'part'], most(2)), 'port');
  t.equal(findNearest('pxrt', ['port', 'part'], most(1)), 'port');
  t.equal(findNearest('xyz', ['host', 'port'], most(2)), undefined);
  t.equal(findNearest('xyz', ['abcdef', 'xbz'], most(Number.MAX_SAFE_INTEGER)), 'xbz');
  t.equal(
    findNearest('abcd', ['abxx', 'abcx'], (candidate) => (candidate === 'abxx' ? 2 : 0)),
    'abxx',
  );
  t.equal(findNearest('x', [], most(2)), undefined);
});
