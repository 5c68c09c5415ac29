/** The scopes of the page's key: the rules of the service, and the line about them. */
import t from 'tap';
import { SCOPES, scopesOf, allows as serviceAllows } from '#src/scopes.js';
import { allows, limitsOf } from '../../web/access.ts';
import { TEXTS } from '../../web/texts.ts';

t.test('[10.keys-page] a scope allows what the service says', async (t) => {
  for (const held of SCOPES)
    for (const needed of SCOPES)
      if (needed !== 'power' && needed !== 'admin')
        t.equal(allows([held], needed), serviceAllows(scopesOf([held]), needed), `${held}: ${needed}`);
  t.equal(allows([], 'read'), false);
  t.equal(allows(['media', 'read'], 'read'), true);
});

t.test('[10.keys-page] the line about a client, and when there is none', async (t) => {
  const end = Date.UTC(2099, 11, 31, 12) / 1000;
  t.equal(limitsOf({ key: 'phone', scopes: ['read', 'media'], expires: null }), 'key phone: read, media');
  t.equal(limitsOf({ key: null, scopes: ['read'], expires: null }), 'without a key: read');
  t.equal(limitsOf({ key: null, scopes: [], expires: null }), 'without a key: nothing');
  t.equal(limitsOf({ key: 'default', scopes: ['admin'], expires: null }), undefined);
  t.equal(limitsOf({ key: null, scopes: ['admin'], expires: null }), undefined);
  t.match(
    limitsOf({ key: 'all', scopes: ['admin'], expires: end }),
    /^key all: everything, until \d+ \w+ \d{4}, \d\d:\d\d$/,
  );
});

t.test('[10.keys-acts] the sentence of a page whose key does not allow reading', async (t) => {
  for (const [scopes, sentence] of [
    [['media'], 'This key allows media only.'],
    [['media', 'power'], 'This key allows media and power only.'],
    [[], 'This key allows nothing here.'],
  ] as const)
    t.equal(TEXTS.barred(scopes), sentence);
});
