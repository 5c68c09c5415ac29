/** The effects of keys. */
import t from 'tap';
import { press } from '#src/cli/top/keys.js';
import type { View } from '#src/cli/top/view.js';
import { rowOf, viewOf } from './views.ts';

const key = (name: string) =>
  name.startsWith('C-')
    ? { ctrl: true, name: name.slice(2), sequence: '\x01' }
    : { name, sequence: name.length === 1 ? name : `<${name}>` };

/** The view after `names`; names of one character are typed. */
const after = (view: View, ...names: readonly string[]) =>
  names.reduce((now, name) => press(now, key(name), 2).view, view);

t.test(
  '[9.top-keys] c, m and n sort; arrows select and scroll, and the selection follows its process',
  async (t) => {
    for (const [name, sort] of [
      ['m', 'memory'],
      ['n', 'name'],
      ['c', 'cpu'],
    ] as const)
      t.equal(after(viewOf(), name).listing.sort, sort);
    const first = after(viewOf(), 'down');
    t.equal(first.selected, 11, 'the first that is shown');
    const second = after(first, 'down');
    t.same([second.selected, second.listing.offset], [22, 0]);
    const third = after(second, 'down');
    t.same([third.selected, third.listing.offset], [33, 1], 'the list scrolls');
    t.equal(after(third, 'down').selected, 33, 'there is no more');
    t.same([after(third, 'home').selected, after(third, 'home').listing.offset], [11, 0]);
    t.equal(after(first, 'pagedown').selected, 33);
    const reordered = {
      ...third,
      processes: { ...third.processes, rows: [rowOf(33, 'editor'), rowOf(11, 'init')] },
    };
    t.equal(after(reordered as View, 'down').selected, 11, 'from where the selected process is now');
  },
);

t.test('[9.top-keys] a filter is typed, kept, and removed', async (t) => {
  const typing = after(viewOf(), '/', 'q', 'k', 'é');
  t.same([typing.isTyping, typing.listing.query], [true, 'qké'], 'letters are no commands meanwhile');
  t.equal(after(typing, 'backspace').listing.query, 'qk');
  const kept = after(typing, 'return');
  t.same([kept.isTyping, kept.listing.query], [false, 'qké']);
  t.equal(after(kept, 'escape').listing.query, '');
  const none = after(typing, 'escape');
  t.same([none.isTyping, none.listing.query], [false, '']);
  t.equal(press(typing, { name: 'up', sequence: '\x1b[A' }, 2).view.listing.query, 'qké');
  t.equal(after(viewOf(), '/', ...'x'.repeat(999)).listing.query.length, 200);
});

t.test(
  '[9.top-end] a process is ended after it was confirmed, and as it was when the key was pressed',
  async (t) => {
    const asked = after(viewOf(), 'down', 'down', 'k');
    t.equal(asked.ending?.pid, 22);
    for (const [name, by] of [
      ['y', 'term'],
      ['f', 'kill'],
    ] as const) {
      const { view, action } = press({ ...asked, processes: undefined }, key(name), 2);
      t.same(action, { end: rowOf(22, 'bash'), by });
      t.equal(view.ending, undefined);
    }
    for (const name of ['n', 'return', 'k', 'escape', 'x'])
      t.same(
        [press(asked, key(name), 2).action, press(asked, key(name), 2).view.ending],
        [undefined, undefined],
        name,
      );
  },
);

t.test(
  '[9.top-end] without a selection, or where the service does not allow it, there is a sentence',
  async (t) => {
    t.match(after(viewOf(), 'k').note, /select a process/);
    const off = viewOf({ connected: { ...viewOf().connected, features: {} } });
    const note = after(off, 'down', 'k');
    t.match(note.note, /disabled \(features\.enable_process_control\)/);
    t.equal(note.ending, undefined);
    t.equal(after(note, 'x').note, '', 'until the next key');
  },
);

t.test('[9.top-keys] q and Ctrl-C end, Ctrl-Z suspends, Ctrl-L draws anew', async (t) => {
  const actionOf = (view: View, name: string) => press(view, key(name), 2).action;
  t.equal(actionOf(viewOf(), 'q'), 'back');
  for (const view of [viewOf(), after(viewOf(), '/'), after(viewOf(), 'down', 'k')]) {
    t.equal(actionOf(view, 'C-c'), 'quit');
    t.equal(actionOf(view, 'C-z'), 'suspend');
    t.equal(actionOf(view, 'C-l'), 'redraw');
  }
});

t.test('[9.top-keys] Escape and a key soon after it are two keys', async (t) => {
  const altQ = { name: 'q', meta: true, sequence: '\x1bq' };
  const { view, action } = press(after(viewOf(), '/', 'a', 'return'), altQ, 2);
  t.same([view.listing.query, action], ['', 'back']);
  t.equal(press(viewOf(), { name: 'escape', meta: true, sequence: '\x1b' }, 2).action, undefined);
});

t.test('[9.top-help] ? shows the keys, and any key leaves them without an effect of its own', async (t) => {
  const shown = after(viewOf(), '?');
  t.equal(shown.isHelp, true);
  t.match(press(shown, key('q'), 2), { view: { isHelp: false }, action: undefined });
  t.equal(press(shown, key('C-c'), 2).action, 'quit');
  t.equal(after(viewOf(), '/', '?').listing.query, '?', 'in a filter it is a character');
});
