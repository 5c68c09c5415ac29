/** The page of all machines: what events change, in which order machines are shown, and what is drawn of a minute. */
import t from 'tap';
import { arrange, type Choice, choiceOf, grouped, hold, queryOf } from '../../web/fleet/choice.ts';
import { type FleetEvent, type Machine, Machines } from '../../web/fleet/machines.ts';
import { alarmsOf, figuresOf, playedOf } from '../../web/fleet/read.ts';
import { TRAIL_LENGTH, Trail } from '../../web/fleet/trail.ts';

type Hosts = FleetEvent['hosts'];

const up = (load: number, disks: readonly number[] = []): Hosts[string] => ({
  state: 'up',
  since: 1,
  sample: {
    timestamp: 1,
    uptime: 1,
    cpu: { current_load: load, current_temp: 50, current_speed: 3 },
    memory: { used: 1, free: 1, used_percent: 25 },
    disks: disks.map((share) => ({ fs: '/', used: 1, available: 1, used_percent: share })),
  },
});
const DOWN: Hosts[string] = { state: 'down', since: 2, reason: 'connection refused' };
const event = (hosts: Hosts, change: Partial<FleetEvent> = {}): FleetEvent => ({
  at: 1,
  all: false,
  removed: [],
  ...change,
  hosts,
});
const row = (id: string, name = id, labels: Readonly<Record<string, string>> = {}) =>
  ({ id, name, labels, state: 'up', since: 1, sample_age: 0 }) as const;
const USUAL = choiceOf(new URLSearchParams());
const namesOf = (list: readonly Machine[]) => list.map(({ name }) => name).join(' ');

const NONE = { up: 0, asleep: 0, off: 0, down: 0, refused: 0, unknown: 0 };

t.test('an event changes the machines that it has; one with all of them removes the others', async (t) => {
  const machines = new Machines();
  t.equal(machines.apply(event({ a: up(1, [10, 90, 20]), b: DOWN }, { all: true })), true, 'new machines');
  machines.setRows([row('a'), row('b')]);
  t.strictSame(machines.counts, { ...NONE, up: 1, down: 1 });
  const [a, b] = machines.all;
  t.match(a?.figures, { load: 1, memory: 25, disk: 90, temperature: 50 }, 'the fullest disk');
  t.match(b, { condition: DOWN, figures: { load: null, disk: null } });
  t.equal(machines.apply(event({ a: up(2) })), false, 'nothing that the list of machines would change');
  t.equal(machines.all.length, 2);
  t.equal(a?.figures.load, 2);
  t.equal(a?.figures.disk, null, 'no disk');
  t.equal(machines.apply(event({ a: DOWN })), true, 'its last values may be known now');
  t.equal(a?.figures.load, null, 'what it was is not shown as what it is');
  t.equal(machines.apply(event({ a: up(3) })), true, 'its name may be known now');
  machines.apply(event({}, { removed: ['a'] }));
  t.strictSame(
    machines.all.map(({ id }) => id),
    ['b'],
  );
  machines.apply(event({ c: up(1) }, { all: true }));
  t.strictSame(
    machines.all.map(({ id }) => id),
    ['c'],
  );
  t.strictSame(machines.counts, { ...NONE, up: 1 });
});

t.test('a wrong value is unknown, of that machine alone', async (t) => {
  const machines = new Machines();
  const sound = up(7, [10, 60]);
  const bad = (sample: unknown) => ({ state: 'up', since: 1, sample }) as Hosts[string]; // From a faulty machine.
  const samples = {
    disks: { timestamp: 1, cpu: { current_load: 5 }, disks: null },
    disk: { disks: [null, 7, { used_percent: '9' }, { used_percent: 33 }] },
    sections: { cpu: null, memory: 'x', disks: {} },
    figures: { cpu: { current_load: {}, current_temp: '50' }, memory: { used_percent: [1] } },
    none: null,
    text: 'x',
    many: { disks: Array.from({ length: 300_000 }, () => ({ used_percent: 4 })) },
  };
  const hosts = Object.fromEntries(Object.entries(samples).map(([id, sample]) => [id, bad(sample)]));
  const odd = { nothing: null, later: { state: 'dreaming', since: 'x' } } as unknown as Hosts; // From a later hub.
  machines.apply(event({ a: sound, ...hosts, ...odd, z: sound }, { all: true }));
  const figuresOf = (id: string) => machines.all.find((machine) => machine.id === id)?.figures;
  for (const id of ['a', 'z']) t.match(figuresOf(id), { load: 7, memory: 25, disk: 60, temperature: 50 }, id);
  const unknown = {
    ...{ load: null, memory: null, disk: null, temperature: null },
    ...{ receive: null, send: null, uptime: null },
  };
  t.same(figuresOf('disks'), { ...unknown, load: 5 }, 'its load is known');
  t.same(figuresOf('disk'), { ...unknown, disk: 33 });
  t.same(figuresOf('many'), { ...unknown, disk: 4 });
  for (const id of ['sections', 'figures', 'none', 'text', 'nothing', 'later'])
    t.same(figuresOf(id), unknown, id);
  t.same(machines.counts, { ...NONE, up: 9, down: 2 });
  const rows = [
    null,
    { id: 5 },
    { id: 'a', name: 7, labels: null },
    { id: 'z', name: 'Z', labels: { n: {} } },
  ];
  machines.setRows(rows as never); // The same.
  t.same(
    machines.all.filter(({ id }) => id === 'a' || id === 'z').map(({ name, labels }) => [name, labels]),
    [
      ['a', []],
      ['Z', ['n: ']],
    ],
  );
  const long = { open: [null, 5, { machine: 7 }, { machine: 'a', severity: 'warning' }], mutes: null };
  t.match(alarmsOf(long), [{ id: 'a', severity: 'warning', text: '', since: 0 }]);
  for (const odd of [null, {}, { open: {} }]) t.same(alarmsOf(odd), []);
});

t.test("the text of a machine's current track", async (t) => {
  const playing = { status: 'active', playback: 'playing', title: 'A', artist: 'B' };
  t.same(playedOf(playing), { text: 'A — B', isPlaying: true });
  t.same(playedOf({ ...playing, playback: 'paused', artist: '' }), { text: 'Paused: A', isPlaying: false });
  let nested: unknown = [];
  for (let i = 0; i < 20_000; i++) nested = [nested];
  for (const odd of [null, [], 'x', { status: 'idle' }]) t.equal(playedOf(odd), undefined);
  t.equal(playedOf({ ...playing, title: nested, artist: null })?.text, '');
});

t.test('names that an event comes before are those of the list', async (t) => {
  const machines = new Machines();
  machines.apply(event({ x: up(1) }, { all: true }));
  t.equal(namesOf(machines.all), 'x');
  machines.setRows([row('x', 'web-1.lan', { site: 'berlin', role: 'web' })]);
  t.equal(namesOf(machines.all), 'web-1.lan');
  t.strictSame(machines.labels, ['role: web', 'site: berlin']);
});

t.test('order: by any column, either way, unknown values last, equal ones by name', async (t) => {
  const machines = new Machines();
  const names = ['web-10', 'web-2', 'db', 'old', 'far'];
  machines.apply(event({ a: up(50), b: up(70), c: up(50), d: DOWN, e: { ...DOWN, state: 'refused' } }));
  machines.setRows(['a', 'b', 'c', 'd', 'e'].map((id, i) => row(id, names[i])));
  const order = (change: Partial<Choice>) => namesOf(arrange(machines.all, { ...USUAL, ...change }));
  t.equal(order({ sort: 'name' }), 'db far old web-2 web-10', 'numbers in names are numbers');
  t.equal(order({ sort: 'name', isReversed: true }), 'web-10 web-2 old far db');
  t.equal(order({ sort: 'load' }), 'web-2 db web-10 far old');
  t.equal(order({ sort: 'load', isReversed: true }), 'db web-10 web-2 far old');
  t.equal(order({}), 'old far db web-2 web-10', 'what is lost comes first');
  t.equal(order({ sort: 'state', isReversed: true }), 'db web-2 web-10 far old');
  for (const sort of ['memory', 'disk', 'temperature', 'network', 'uptime', 'version'] as const)
    t.equal(order({ sort }).split(' ').length, 5, sort);
});

t.test('filters: state, label, and words in names, ids and labels', async (t) => {
  const machines = new Machines();
  machines.apply(event({ a: up(1), b: DOWN, c: up(2) }));
  machines.setRows([
    row('a', 'Alpha', { site: 'berlin' }),
    row('b', 'Beta', { site: 'berlin' }),
    row('c', 'Gamma'),
  ]);
  const found = (change: Partial<Choice>) => namesOf(arrange(machines.all, { ...USUAL, ...change }));
  t.equal(found({ state: 'up' }), 'Alpha Gamma');
  t.equal(found({ state: 'refused' }), '');
  const berlin = ['site: berlin'];
  t.equal(found({ labels: berlin }), 'Beta Alpha');
  t.equal(found({ labels: berlin, state: 'down' }), 'Beta');
  t.equal(found({ labels: [...berlin, 'site: paris'] }), 'Beta Alpha', 'either value of one label');
  t.equal(found({ labels: [...berlin, 'role: web'] }), '', 'each of several labels');
  t.equal(found({ search: ' ALPHA ' }), 'Alpha');
  t.equal(found({ search: 'berlin' }), 'Beta Alpha');
  t.equal(found({ search: 'x' }), '');
});

t.test(
  'a held order: nothing moves or goes that still exists, and new machines are at the end',
  async (t) => {
    const machines = new Machines();
    machines.apply(event({ a: up(3), b: up(2), c: up(1) }));
    machines.setRows([row('a'), row('b'), row('c')]);
    const choice: Choice = { ...USUAL, sort: 'load', state: 'up' };
    const shown = arrange(machines.all, choice);
    t.equal(namesOf(shown), 'a b c');
    machines.apply(event({ a: DOWN, c: up(9), d: up(5) }, { removed: ['b'] }));
    const arranged = arrange(machines.all, choice);
    t.equal(namesOf(arranged), 'c d');
    t.equal(namesOf(hold(shown, arranged, machines.all)), 'a c d');
  },
);

t.test('the choice is in the address, and comes back from it', async (t) => {
  const choices: readonly Partial<Choice>[] = [
    {},
    { view: 'tiles', sort: 'load', isReversed: true, search: 'a b&c', state: 'down' },
    { view: 'compare', picked: ['a', 'b'], group: 'site', labels: ['site: berlin', 'role: a&b'] },
    { sort: 'name', isReversed: true },
  ];
  for (const change of choices) {
    const choice = { ...USUAL, ...change };
    const query = queryOf(choice, new URLSearchParams('?other=1&sort=disk'));
    t.equal(query.get('other'), '1', 'the parameters of others stay');
    t.strictSame(choiceOf(new URLSearchParams(query.toString())), choice);
  }
  const odd = choiceOf(new URLSearchParams('?view=3d&sort=colour&state=odd'));
  t.match(odd, { view: 'table', sort: 'state', state: undefined }, 'unknown words are the usual choice');
});

t.test(
  'the line of a minute: the newest value at the right, gaps, and values beyond the scale',
  async (t) => {
    const trail = new Trail();
    t.equal(trail.path, '');
    const right = TRAIL_LENGTH - 1;
    let at = 1000;
    const push = (value: number | null) => trail.push(at++, value);
    push(50);
    t.equal(trail.path, `M${right} 12.0h0`);
    push(100);
    t.equal(trail.path, `M${right - 1} 12.0h0L${right} 0.0`);
    push(null);
    push(-5);
    t.equal(trail.path, `M${right - 3} 12.0h0L${right - 2} 0.0M${right} 24.0h0`);
    push(1000);
    for (let i = 0; i < TRAIL_LENGTH; i++) push(0);
    t.equal(trail.path.split('L').length, TRAIL_LENGTH);
    t.ok(trail.path.startsWith('M0 24.0h0L1 24.0'), trail.path.slice(0, 20));
  },
);

t.test(
  'the line of a minute is one of seconds, whatever the interval, and begins with the past',
  async (t) => {
    const trail = new Trail();
    const right = TRAIL_LENGTH - 1;
    trail.push(1000, 50);
    trail.push(1002, 100);
    t.equal(trail.path, `M${right - 2} 12.0h0L${right - 1} 0.0L${right} 0.0`, 'joined');
    trail.fillBefore([7, 100, 50, null, 0, 1, 2, 3]);
    t.equal(trail.path, 'M52 22.3h0L53 0.0L54 12.0M56 24.0h0L57 12.0L58 0.0L59 0.0');
    trail.push(1030, 0);
    t.match(trail.path, /L31 0\.0M59 24\.0h0$/, 'a long pause is a gap');
    trail.restart();
    trail.fillBefore(Array.from({ length: TRAIL_LENGTH }, () => 100));
    t.equal(trail.path.split('L').length, TRAIL_LENGTH, 'and is filled at the next visit');
  },
);

t.test('rates are those between two events, unknown at first and after a start', async (t) => {
  const machines = new Machines();
  const sample = (bytesRecv: number, bytesSent: number) =>
    ({ ...up(1), sample: { uptime: 60, network: { bytesRecv, bytesSent } } }) as unknown as Hosts[string]; // As far as it is read.
  const figures = () => machines.at('a')?.figures;
  machines.apply(event({ a: sample(1000, 50) }, { at: 10 }));
  t.match(figures(), { receive: null, send: null, uptime: 60 });
  machines.apply(event({ a: sample(3000, 90) }, { at: 12 }));
  t.match(figures(), { receive: 1000, send: 20 });
  machines.apply(event({ a: sample(0, 0) }, { at: 14 }));
  t.match(figures(), { receive: null, send: null }, 'counters begin again with the machine');
});

t.test('alarms: the most urgent first, muted ones last, and their machines before the others', async (t) => {
  const open = (machine: string, severity: string, subject: string, begin: number) => ({
    ...{ machine, severity, subject, begin },
    text: `${subject} of ${machine}`,
  });
  const answer = {
    open: [
      open('b', 'warning', 'disk-full disk.used_percent//', 5),
      open('a', 'info', 'busy cpu.load', 9),
      open('c', 'critical', 'drive-failing x', 3),
      open('d', 'critical', 'down', 8),
    ],
    mutes: [{ what: 'd', until: 99, reason: '' }],
  };
  const machines = new Machines();
  machines.apply(event({ a: up(1), b: up(2), c: up(3), d: up(4), e: DOWN }));
  machines.setRows(['a', 'b', 'c', 'd', 'e'].map((id) => row(id)));
  machines.setAlarms(alarmsOf(answer));
  t.same(
    machines.alarms.map(({ id, mute }) => [id, mute !== undefined]),
    [
      ['c', false],
      ['b', false],
      ['d', true],
    ],
  );
  t.equal(namesOf(arrange(machines.all, USUAL)), 'e c b a d');
  machines.setAlarms([]);
  t.equal(namesOf(arrange(machines.all, USUAL)), 'e a b c d');
});

t.test('groups of a label have their worst values', async (t) => {
  const machines = new Machines();
  machines.apply(event({ a: up(10, [20]), b: up(90, [95]), c: DOWN, d: up(3) }));
  machines.setRows([
    row('a', 'a', { site: 'paris' }),
    row('b', 'b', { site: 'berlin', role: 'x' }),
    row('c', 'c', { site: 'berlin' }),
    row('d'),
  ]);
  const groups = grouped(arrange(machines.all, { ...USUAL, sort: 'name' }), 'site');
  t.match(groups, [
    { label: 'site: paris', down: 0, worst: { load: 10, disk: 20 } },
    { label: 'site: berlin', down: 1, worst: { load: 90, memory: 25, disk: 95 } },
    { label: undefined, down: 0, worst: { load: 3, disk: null } },
  ]);
  t.same(
    groups.map(({ machines: members }) => namesOf(members)),
    ['a', 'b c', 'd'],
  );
});

t.test('the last values of a machine that is not there stay, with their time', async (t) => {
  const machines = new Machines();
  machines.apply(event({ a: DOWN }));
  const last = {
    as_of: 100,
    timestamp: 1,
    uptime: 5,
    cpu: { current_load: 7, current_temp: 0, current_speed: 1 },
  };
  machines.setRows([{ ...row('a'), version: '1.2.3', last } as never]); // As far as it is read.
  t.match(machines.at('a'), {
    version: '1.2.3',
    last: { asOf: 100, figures: { load: 7, temperature: null } },
  });
});

t.test('a temperature that cannot be read is unknown, and not 0 °C', async (t) => {
  const sample = (current_temp: unknown) => ({ cpu: { current_load: 1, current_temp } });
  t.equal(figuresOf(sample(0)).temperature, null, 'a sample without detail has 0 for it');
  t.equal(figuresOf(sample(null)).temperature, null);
  t.equal(figuresOf(sample(-5)).temperature, -5);
  t.equal(figuresOf(sample(41.5)).temperature, 41.5);
});

t.test('a machine that is up is measuring until its first figures', async (t) => {
  const machines = new Machines();
  machines.apply(event({ a: { state: 'up', since: 1 }, b: DOWN }, { all: true }));
  const [a, b] = machines.all;
  t.same([a?.isMeasuring, b?.isMeasuring], [true, false]);
  machines.apply(event({ a: up(5) }));
  t.equal(a?.isMeasuring, false);
});
