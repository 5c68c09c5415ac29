/** The attacks on the web guard: each is another one. */
import t from 'tap';
import { ROWS } from './attack/rows.ts';
import { STRANGERS_NAMES } from './rebinding/names.ts';

t.test('no attack and no name is there twice', async (t) => {
  const methods = ROWS.map(({ from, does, method }) => `${from} ${does} ${method}`);
  for (const each of [methods, ROWS.map(({ id }) => id), STRANGERS_NAMES.map(({ name }) => name)]) {
    t.ok(each.length >= 40, `${each.length} of them`);
    t.equal(new Set(each).size, each.length);
  }
});
