/** The list of the machines of a hub, and its keys. */
import t from 'tap';
import { HubScene } from '#src/cli/top/hub-scene.js';
import { drawMachines, listMachines, type Machines, pressMachines } from '#src/cli/top/machines.js';
import { measure, paint } from '#src/cli/top/text.js';
import { settle } from '../../helpers/fakes/clock.ts';
import { HOSTILE, OBEYED } from '../../helpers/hostile-texts.ts';

const rowOf = (id: string, state: 'up' | 'down' | 'refused' = 'up') => ({
  id,
  name: `${id}.example`,
  labels: { site: 'x' },
  state,
  since: 1,
  sample_age: null,
  ...(state !== 'up' && { reason: 'connection refused' }),
});
const machinesOf = (changed: Partial<Machines> = {}): Machines => ({
  url: 'http://hub:9980',
  hosts: [rowOf('a'), rowOf('b', 'down'), rowOf('c')],
  selected: 'a',
  offset: 0,
  note: '',
  ...changed,
});
const key = (name: string) => ({ name, sequence: name.length === 1 ? name : `<${name}>` });
const after = (view: Machines, ...names: readonly string[]) =>
  names.reduce((now, name) => pressMachines(now, key(name), 2).view, view);

t.test('[9.top-hub] every machine has a line with its state, and why it is not up', async (t) => {
  const lines = listMachines(machinesOf(), 100).map((line) => paint(line, 'none', false));
  t.equal(lines.length, 5);
  t.equal(lines[0], 'Machines  2 of 3 up  http://hub:9980');
  t.match(lines[2], /^a +up +a\.example +site:x$/);
  t.match(lines[3], /^b +down +b\.example +connection refused$/);
  for (const size of [
    { columns: 80, rows: 24 },
    { columns: 20, rows: 4 },
    { columns: 60, rows: 2 },
  ]) {
    const drawn = drawMachines(machinesOf(), size);
    t.equal(drawn.lines.length, size.rows);
    for (const line of drawn.lines)
      t.equal(measure(line.map(({ text }) => text).join('')), size.columns, JSON.stringify(size));
  }
});

t.test('[9.top-hub] arrows select and scroll, Enter opens, q ends', async (t) => {
  const view = machinesOf();
  t.equal(after(view, 'down').selected, 'b');
  t.match(after(view, 'down', 'down'), { selected: 'c', offset: 1 });
  t.match(after(view, 'end', 'down'), { selected: 'c', offset: 1 }, 'there is no more');
  t.match(after(view, 'end', 'home'), { selected: 'a', offset: 0 });
  t.equal(after(machinesOf({ selected: 'gone' }), 'down').selected, 'a');
  const actionOf = (now: Machines, name: string) => pressMachines(now, key(name), 2).action;
  t.same(actionOf(after(view, 'down'), 'return'), { open: 'b' });
  t.equal(actionOf(machinesOf({ hosts: [], selected: undefined }), 'return'), undefined);
  t.equal(actionOf(view, 'q'), 'quit');
  t.equal(pressMachines(view, { ctrl: true, name: 'c', sequence: '\x03' }, 2).action, 'quit');
  t.equal(after(machinesOf({ note: 'b: no' }), 'down').note, '', 'a note is shown until the next key');
});

t.test('[9.untrusted-texts] no text of a hub commands the terminal', async (t) => {
  const row = { ...rowOf('a', 'down'), id: HOSTILE, name: HOSTILE, reason: HOSTILE, labels: {} };
  const view = machinesOf({ hosts: [row], url: HOSTILE, note: HOSTILE, selected: undefined });
  const { lines } = drawMachines(view, { columns: 150, rows: 20 });
  t.notMatch(lines.map((line) => paint(line, 'none', false)).join('\n'), OBEYED);
});

t.test('[9.top-hub] a machine that opens after the list was left is closed', async (t) => {
  const opening = new Map<string, (opened: string) => void>();
  const closed: string[] = [];
  const link = {
    readHosts: async () => [],
    open: (id: string) => new Promise<string>((resolve) => opening.set(id, resolve)),
    close: (opened: string) => closed.push(opened),
  };
  const paintNothing = () => ({ lines: [], shown: 2 });
  const left = new HubScene(link, machinesOf(), paintNothing);
  void left.run(() => undefined);
  left.press(key('return'));
  t.equal(left.press(key('q')), 'quit');
  left.close();
  opening.get('a')?.('late');
  await settle();
  t.strictSame(closed, ['late']);
  const kept = new HubScene(link, machinesOf({ selected: 'b' }), paintNothing);
  const chosen = kept.run(() => undefined);
  kept.press(key('return'));
  opening.get('b')?.('in time');
  t.equal(await chosen, 'in time');
  kept.close();
  t.strictSame(closed, ['late']);
});
