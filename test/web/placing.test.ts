/** Cards on the page of one machine: their columns, their order, and what a browser keeps of it. */
import t from 'tap';
import { shownFirst } from '../../web/cards/interfaces.ts';
import { columnsIn, inOrder, moved, placesOf, readArrangement } from '../../web/placing.ts';
import { plainReason } from '../../web/reasons.ts';

const boxes = (...heights: readonly number[]) => heights.map((height) => ({ span: 1, height }));

t.test('one column on a phone, seven on the widest screen', async (t) => {
  for (const [px, count] of [
    [320, 1],
    [360, 1],
    [768, 2],
    [1280, 3],
    [1920, 4],
    [3840, 7],
    [7680, 7],
  ] as const)
    t.equal(columnsIn(px / 16), count, `${px} px`);
  const widths = [112, 120, 140, 142, 160, 172, 200, 204, 240].map(
    (rem) => (rem - 2.6) / columnsIn(rem) - 0.875,
  );
  t.ok(Math.min(...widths) > 25.5 && Math.max(...widths) < 34.5, `columns of ${widths} rem`);
  t.equal(columnsIn(1280 / 32), 1, 'text of twice the size');
});

t.test('a card stands where its top is highest, and to the left of equal places', async (t) => {
  t.same(placesOf(boxes(300, 100, 200, 50), 3), [0, 1, 2, 1]);
  t.same(placesOf(boxes(300, 290, 280), 1), [0, 0, 0]);
  t.same(
    placesOf(boxes(300, 290, 100), 2),
    [0, 1, 0],
    'a difference that nobody sees moves no card to the right',
  );
  t.same(placesOf([...boxes(100, 400, 120), { span: 2, height: 50 }], 3), [0, 1, 2, 0], 'two columns');
  t.same(placesOf([{ span: 2, height: 50 }], 1), [0], 'on a phone');
});

t.test('tops of cards follow the order of the document', async (t) => {
  const heights = Array.from({ length: 40 }, (_, i) => 60 + ((i * 7919) % 500));
  const ends = [0, 0, 0, 0];
  let last = 0;
  placesOf(boxes(...heights), 4).forEach((place, i) => {
    const top = ends[place] ?? Number.NaN;
    t.ok(top >= last - 24, `card ${i}`);
    last = Math.max(last, top);
    ends[place] = top + (heights[i] ?? 0);
  });
});

t.test('the order of the user comes first, and a new card stands at the end', async (t) => {
  t.same(inOrder(['a', 'b', 'c', 'd'], ['c', 'gone', 'a']), ['c', 'a', 'b', 'd']);
  t.same(moved(['a', 'b', 'c'], 'c', -1), ['a', 'c', 'b']);
  t.same(moved(['a', 'b', 'c'], 'a', 1), ['b', 'a', 'c']);
  t.same(moved(['a', 'b'], 'a', -1), ['a', 'b']);
  t.same(moved(['a', 'b'], 'b', 1), ['a', 'b']);
});

t.test('what a browser keeps is read whatever it is', async (t) => {
  const none = { order: [], folded: [] };
  for (const kept of [null, '', 'x', 'null', '7', '[]', '{"order":{},"folded":7}'])
    t.same(readArrangement(kept), none, String(kept));
  t.same(readArrangement('{"order":["a",1],"folded":["b"]}'), { order: ['a'], folded: ['b'] });
});

t.test('bridges are folded beside hardware, and shown where there is nothing else', async (t) => {
  type Interfaces = Parameters<typeof shownFirst>[0];
  const named = (name: string, kind: string) => ({ name, kind });
  const namesOf = (list: readonly object[]) =>
    shownFirst(list as Interfaces).map((part) => part.map(({ name }) => name)); // Only these are looked at.
  t.same(namesOf([named('eth0', 'ethernet'), named('br0', 'bridge'), named('lo', 'loopback')]), [
    ['eth0'],
    ['br0', 'lo'],
  ]);
  t.same(namesOf([named('br0', 'bridge')]), [['br0'], []]);
});

t.test('reasons name no bus', async (t) => {
  t.equal(plainReason('no session bus: connection refused'), 'no desktop session found');
  t.equal(
    plainReason('org.freedesktop.login1 is not activatable'),
    'the system service for this does not answer',
  );
  t.equal(
    plainReason('no answer from unix:path=/run/dbus/system_bus_socket'),
    'the system service for this does not answer',
  );
  t.equal(plainReason('no GPUs found'), 'no GPUs found');
});
