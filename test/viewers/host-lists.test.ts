/** The list of machines as JSON: a long one is made once for all who ask for it at the same time. */
import t from 'tap';
import type { RemoteMachine } from '#src/machine/remote.js';
import { filterOf } from '#src/viewers/fleet/fleet-filter.js';
import { HostLists } from '#src/viewers/fleet/host-lists.js';

const INVENTORY = { facts: () => ({}), usage: () => undefined, note: () => undefined };

const filter = (query: string) => filterOf(new URLSearchParams(query));

/** Lists of `count` machines, by a clock that advances by `ms` with each list. */
function listsOf(count: number, ms: number) {
  let now = 0;
  const timers: { readonly fire: () => void; readonly atMs: number }[] = [];
  const all = Array.from({ length: count }, (_, i) => ({
    id: `m${i}`,
    labels: {},
    condition: { state: 'up' },
    get row() {
      if (i === 0) now += ms;
      return { id: `m${i}`, name: 'x'.repeat(100) };
    },
  })) as unknown as readonly RemoteMachine[]; // As much of a machine as a list has of it.
  const clock = {
    now: () => now,
    setTimer: (fire: () => void, ms: number) => timers.push({ fire, atMs: now + ms }),
  };
  const wait = (waitMs: number) => {
    now += waitMs;
    for (const { fire, atMs } of timers) if (atMs <= now) fire();
  };
  return { lists: new HostLists({ all }, INVENTORY, clock), wait };
}

t.test('a short list is made for each request', async (t) => {
  const { lists } = listsOf(100, 5);
  t.not(lists.json(filter('')), lists.json(filter('')));
  t.equal(JSON.parse(lists.json(filter('')).toString()).hosts.length, 100);
});

t.test('of some machines, by their ids', async (t) => {
  const { lists } = listsOf(100, 5);
  const ids = (query: string): readonly string[] =>
    JSON.parse(lists.json(filter(query)).toString()).hosts.map(({ id }: { readonly id: string }) => id);
  t.strictSame(ids('host=m7'), ['m7']);
  t.strictSame(ids('host=m7&host=m3&host=none&state=up'), ['m3', 'm7']);
  t.throws(() => filter(Array.from({ length: 17 }, (_, i) => `host=m${i}`).join('&')), {
    code: 'invalid_value',
  });
});

t.test('a long one is shared for ten times as long as it took', async (t) => {
  const { lists, wait } = listsOf(1000, 5);
  const list = lists.json(filter(''));
  wait(49);
  t.equal(lists.json(filter('')), list);
  t.not(lists.json(filter('state=up')), list, 'another filter is another list');
  wait(1);
  t.not(lists.json(filter('')), list);
  t.equal(
    list.buffer.byteLength,
    list.length,
    'its memory is its own: it is counted once for all who share it',
  );
});

t.test('for a second at most, and of four filters', async (t) => {
  const { lists, wait } = listsOf(1000, 500);
  const list = lists.json(filter(''));
  wait(1000);
  const next = lists.json(filter(''));
  t.not(next, list);
  for (const state of ['up', 'up&label=a:b']) lists.json(filter(`state=${state}`));
  t.equal(lists.json(filter('')), next);
});
