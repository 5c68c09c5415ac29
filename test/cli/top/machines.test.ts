/** The list of the machines of a hub, and its keys. */
import t from 'tap';
import { HubScene } from '#src/cli/top/hub-scene.js';
import { drawMachines, inOrder, listMachines, type Machines, pressMachines } from '#src/cli/top/machines.js';
import { measure, paint } from '#src/cli/top/text.js';
import type { MachineEvent } from '#src/wire/events.js';
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
  events: [],
  samples: new Map(),
  selected: 'a',
  offset: 0,
  note: '',
  ...changed,
});
const key = (name: string) => ({ name, sequence: name.length === 1 ? name : `<${name}>` });
const after = (view: Machines, ...names: readonly string[]) =>
  names.reduce((now, name) => pressMachines(now, key(name), 2).view, view);

t.test('[9.top-hub] every machine has a line with its state, and why it is not up', async (t) => {
  const lines = listMachines(machinesOf(), 120).map((line) => paint(line, 'none', false));
  t.equal(lines.length, 5);
  t.equal(lines[0], 'Machines  2 of 3 up  http://hub:9980');
  t.match(lines[2], /^a +up +- +- +- +- +a\.example +site:x$/);
  t.match(lines[3], /^b +down +1 Jan +- +- +- +- +b\.example +connection refused$/);
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

t.test(
  '[9.top-hub] present figures, the last ones of a machine that is gone, and open events first',
  async (t) => {
    const sample = (load: number) => ({
      timestamp: 1,
      uptime: 1,
      cpu: { current_load: load, current_temp: 0, current_speed: 1 },
      memory: { used: 1, free: 1, used_percent: 25 },
      disks: [40, 91].map((share) => ({ fs: '/', used: 1, available: 1, used_percent: share })),
    });
    const eventOf = (
      machine: string,
      severity: 'critical' | 'warning' | 'info',
      begin: number,
    ): MachineEvent => ({
      ...{ id: begin, machine, kind: 'rule', subject: 'x y', severity, state: 'begin', begin, end: null },
      ...{ value: null, limit: null, text: `what ${severity} is` },
    });
    const view = machinesOf({
      hosts: inOrder([rowOf('a'), { ...rowOf('b', 'down'), last: { as_of: 5, ...sample(7) } }, rowOf('c')]),
      samples: new Map([['a', { state: 'up', since: 1, sample: sample(12) }]]),
      events: [eventOf('a', 'warning', 3), eventOf('b', 'critical', 2), eventOf('c', 'info', 9)],
    });
    const lines = listMachines(view, 120).map((line) => paint(line, 'none', false));
    t.match(lines[1], /^CRITICAL +1 Jan +b: what critical is$/);
    t.match(lines[2], /^WARNING +1 Jan +a: what warning is$/);
    t.match(lines[3], /^MACHINE +STATE +SINCE +LOAD +MEM +DISK +TEMP +NAME/);
    t.match(lines[4], /^b +down +1 Jan +7 % +25 % +91 % +- +b\.example/);
    t.match(lines[5], /^a +up +12 % +25 % +91 % +- +a\.example/);
    t.match(lines[6], /^c +up +- +- +- +- +c\.example/);
    const ends = [3, 4, 5].map((line) => lines[line]?.slice(0, 62).trimEnd().length);
    t.ok(new Set(ends).size <= 2, 'figures stand below their headings');
    const many = { ...view, events: Array.from({ length: 30 }, (_, i) => eventOf('a', 'warning', i)) };
    const { lines: drawn, shown } = drawMachines(many, { columns: 100, rows: 20 });
    t.equal(drawn.length, 20);
    t.equal(shown, 20 - 3 - 6);
    t.match(drawn.map((line) => paint(line, 'none', false))[6], /^25 more open events$/);
  },
);

t.test('[9.untrusted-texts] no text of a hub commands the terminal', async (t) => {
  const row = { ...rowOf('a', 'down'), id: HOSTILE, name: HOSTILE, reason: HOSTILE, labels: {} };
  const view = machinesOf({ hosts: [row], url: HOSTILE, note: HOSTILE, selected: undefined });
  const { lines } = drawMachines(view, { columns: 150, rows: 20 });
  t.notMatch(lines.map((line) => paint(line, 'none', false)).join('\n'), OBEYED);
});

t.test('[9.top-hub] a machine that opens after the list was left is closed', async (t) => {
  const opening = new Map<string, (opened: string) => void>();
  const closed: string[] = [];
  const ends: string[] = [];
  const link = {
    readFleet: async () => ({ hosts: [], events: [] }),
    follow: () => ({ close: () => void ends.push('samples') }),
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
  t.equal(ends.length, 2, 'no samples are received for a list that was left');
});
