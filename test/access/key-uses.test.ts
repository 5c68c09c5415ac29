/** The last uses of keys: what counts, what is forgotten, and what survives a reload and a restart. */
import t from 'tap';
import { apiKeyOf, compileKeys } from '#src/access/key.js';
import { listedKeys } from '#src/access/key-list.js';
import { KeyUses } from '#src/access/key-uses.js';

const START_MS = 1_000_000;

function create(...names: readonly string[]) {
  const time = { ms: START_MS };
  const uses = new KeyUses(() => time.ms);
  uses.reconfigure(names);
  return { time, uses };
}

t.test('[10.keys-uses] the last use replaces the one before it', async (t) => {
  const { time, uses } = create('phone', 'tv');
  t.equal(uses.of('phone'), undefined);
  t.equal(uses.sinceMs, START_MS);
  uses.note('phone', '10.0.0.1');
  time.ms += 5000;
  uses.note('phone', '10.0.0.2');
  t.strictSame(uses.of('phone'), { atMs: START_MS + 5000, address: '10.0.0.2', open: 0 });
  t.strictSame(uses.beforeLast('phone'), { atMs: START_MS, address: '10.0.0.1', open: 0 });
  t.equal(uses.of('tv'), undefined, 'no other key');
  t.equal(uses.beforeLast('tv'), undefined);
});

t.test('[10.keys-uses] only configured keys have a record', async (t) => {
  const { uses } = create('phone');
  uses.note(undefined, '10.0.0.1');
  for (let i = 0; i < 1000; i++) uses.note(`key-${i}`, '10.0.0.1');
  uses.opened('key-1');
  uses.closed('key-1', '10.0.0.1');
  t.equal(uses.of('key-1'), undefined);
  t.equal(uses.takeNews(), undefined, 'nothing to store');
  uses.note('phone', '10.0.0.1');
  t.strictSame([...(uses.takeNews() ?? [])], [['phone', { atMs: START_MS, address: '10.0.0.1' }]]);
});

t.test('[10.keys-uses] while a stream is open its key is in use, and until it closes', async (t) => {
  const { time, uses } = create('phone');
  uses.note('phone', '10.0.0.1');
  uses.opened('phone');
  uses.opened('phone');
  time.ms += 60_000;
  t.strictSame(uses.of('phone'), { atMs: time.ms, address: '10.0.0.1', open: 2 });
  uses.closed('phone', '10.0.0.2');
  uses.closed('phone', '10.0.0.1');
  const closedAtMs = time.ms;
  time.ms += 60_000;
  t.strictSame(uses.of('phone'), { atMs: closedAtMs, address: '10.0.0.1', open: 0 });
  uses.closed('phone', '10.0.0.1');
  t.equal(uses.of('phone')?.open, 0);
});

t.test('[10.keys-uses] a reload keeps the uses of keys that stay, and forgets the others', async (t) => {
  const { time, uses } = create('phone', 'tv');
  uses.note('phone', '10.0.0.1');
  uses.note('tv', '10.0.0.2');
  uses.takeNews();
  time.ms += 1000;
  uses.reconfigure(['phone', 'panel']);
  t.strictSame(uses.of('phone'), { atMs: START_MS, address: '10.0.0.1', open: 0 });
  t.strictSame(
    [...(uses.takeNews()?.keys() ?? [])],
    ['phone'],
    'the one that is gone is removed from the file',
  );
  uses.note('tv', '10.0.0.3');
  t.equal(uses.of('tv'), undefined);
  uses.reconfigure(['phone', 'tv']);
  t.equal(uses.of('tv'), undefined, 'a later key of that name is another one');
});

t.test('[10.keys-uses] a key that returns does not count what was opened before', async (t) => {
  const { uses } = create('phone');
  uses.note('phone', '10.0.0.1');
  uses.opened('phone');
  uses.reconfigure([]);
  t.equal(uses.of('phone'), undefined);
  uses.note('phone', '10.0.0.1');
  t.equal(uses.of('phone'), undefined, 'its stream is still open, but notes nothing');
  t.strictSame([...(uses.takeNews() ?? [])], []);
  uses.reconfigure(['phone']);
  uses.note('phone', '10.0.0.2');
  uses.opened('phone');
  t.equal(uses.of('phone')?.open, 2, 'the old stream has not been cut yet');
  uses.closed('phone', '10.0.0.1');
  t.equal(uses.of('phone')?.open, 1);
  uses.reconfigure([]);
  uses.closed('phone', '10.0.0.2');
  uses.reconfigure(['phone']);
  uses.opened('phone');
  uses.closed('phone', '10.0.0.2');
  t.equal(uses.of('phone')?.open, 0);
});

t.test('[10.keys-uses] uses are news once, and again when they were not stored', async (t) => {
  const { time, uses } = create('phone');
  uses.note('phone', '10.0.0.1');
  t.ok(uses.takeNews());
  t.equal(uses.takeNews(), undefined);
  uses.returnNews();
  t.ok(uses.takeNews());
  uses.opened('phone');
  time.ms += 60_000;
  t.strictSame(
    [...(uses.takeNews()?.values() ?? [])],
    [{ atMs: time.ms, address: '10.0.0.1' }],
    'while open',
  );
});

t.test('[10.keys-uses] uses of an earlier run are added', async (t) => {
  const { uses } = create('phone', 'tv', 'panel');
  uses.note('phone', '10.0.0.1');
  uses.takeNews();
  const stored = (address: string) => ({ atMs: 500, address });
  uses.restore(
    new Map([
      ['phone', stored('10.0.0.8')],
      ['tv', stored('10.0.0.9')],
    ]),
    400,
  );
  t.strictSame(uses.of('phone'), { atMs: START_MS, address: '10.0.0.1', open: 0 }, 'newer ones stay');
  t.strictSame(uses.beforeLast('phone'), { atMs: 500, address: '10.0.0.8', open: 0 });
  t.strictSame(uses.of('tv'), { atMs: 500, address: '10.0.0.9', open: 0 });
  t.equal(uses.of('panel'), undefined);
  t.equal(uses.sinceMs, 400);
  t.equal(uses.takeNews(), undefined);
  uses.restore(new Map([['removed', stored('10.0.0.7')]]), 400);
  t.notOk(uses.takeNews()?.has('removed') ?? true, 'a key that is gone leaves the file with the next write');
});

t.test('[10.keys-list] the list has names and terms, without a key or a digest', async (t) => {
  const digest = `sha256/${'A'.repeat(43)}=`;
  const auth = {
    api_key: 'k'.repeat(40),
    keys: {
      tv: { digest, scopes: ['read'] as const, expires: '2027-01-01T00:00:00Z' },
      ha: { key_file: { secret: 's'.repeat(40) }, scopes: ['power'] as const },
    },
  };
  t.strictSame(listedKeys(auth, Date.UTC(2027, 0, 1)), [
    { name: 'default', scopes: ['admin'], expires: null, is_expired: false },
    { name: 'tv', scopes: ['read'], expires: '2027-01-01T00:00:00Z', is_expired: true },
    { name: 'ha', scopes: ['power'], expires: null, is_expired: false },
  ]);
  const namesOf = (config: typeof auth) => listedKeys(config, 0).map(({ name }) => name);
  t.strictSame(namesOf(auth), ['default', 'tv', 'ha']);
  t.strictSame(namesOf({ ...auth, api_key: '' }), ['tv', 'ha'], 'an empty key is none');
  const ringOf = (config: typeof auth) =>
    [...compileKeys(apiKeyOf(config), config.keys).keys.values()].map(({ name }) => name);
  t.strictSame(ringOf(auth).sort(), ['default', 'ha', 'tv'], 'the same keys are known to the gate');
  t.strictSame(ringOf({ ...auth, api_key: '' }).sort(), ['ha', 'tv'], 'an empty key is none');
});
