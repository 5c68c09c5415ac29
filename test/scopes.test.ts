/** Scopes as sets: groups, coverage, and the names of a set. */
import t from 'tap';
import {
  ALL_SCOPES,
  allows,
  covers,
  isScope,
  NO_SCOPES,
  namesOfScopes,
  SCOPES,
  scopesOf,
} from '#src/scopes.js';

/** The scopes that a group stands for, as docs/keys.md has them. */
const POWER = ['shutdown', 'restart', 'sleep', 'hibernate', 'lock', 'cancel'].map((name) => `power.${name}`);

t.test('a group stands for its members and nothing else', async (t) => {
  for (const held of SCOPES)
    for (const needed of SCOPES) {
      const expected = held === 'admin' || held === needed || (held === 'power' && POWER.includes(needed));
      t.equal(allows(scopesOf([held]), needed), expected, `${held} for ${needed}`);
    }
  for (const needed of SCOPES) t.notOk(allows(NO_SCOPES, needed), needed);
  t.notOk(allows(scopesOf(['processes']), 'processes.control'), 'to list is not to end');
  t.ok(allows(scopesOf(SCOPES.filter((name) => POWER.includes(name))), 'power'), 'all members are the group');
});

t.test('coverage', async (t) => {
  const phone = scopesOf(['read', 'media']);
  t.ok(covers(ALL_SCOPES, phone));
  t.ok(covers(phone, phone));
  t.ok(covers(phone, NO_SCOPES));
  t.notOk(covers(phone, ALL_SCOPES));
  t.notOk(covers(scopesOf(['read']), phone));
});

t.test('a set has a shortest list of names', async (t) => {
  t.strictSame(namesOfScopes(ALL_SCOPES), ['admin']);
  t.strictSame(namesOfScopes(NO_SCOPES), []);
  t.strictSame(namesOfScopes(scopesOf(['power.sleep', 'read', 'power'])), ['read', 'power']);
  t.strictSame(namesOfScopes(scopesOf(['processes', 'power.lock'])), ['processes', 'power.lock']);
  t.strictSame(
    namesOfScopes(scopesOf(SCOPES.filter((name) => name !== 'admin'))),
    ['admin'],
    'everything by its members',
  );
});

t.test('names', async (t) => {
  for (const name of SCOPES) t.ok(isScope(name), name);
  for (const name of ['', 'Read', 'power.', 'power.cpu', 'toString', '__proto__', '*'])
    t.notOk(isScope(name), name);
});
