/** The verdict at the top of the page: its figures, the open events, and the order of filesystems. */
import t from 'tap';
import type { MachineEvent } from '#src/wire/events.js';
import { alarmsIn, cardOf } from '../../web/alarms.ts';
import { daysLeftIn, fullestFirst } from '../../web/cards/disk-rows.ts';
import { figuresOf } from '../../web/figures.ts';
import { levelOf } from '../../web/parts/level.ts';

type Sample = Parameters<typeof figuresOf>[0];
type Disk = Parameters<typeof fullestFirst>[0][number];
const sampleOf = (parts: object) => ({ sensors: [], batteries: [], ...parts }) as unknown as Sample; // What is looked at.
const diskOf = (fs: string, used: number | null, stale = false) =>
  ({ fs, used_percent: used, stale }) as unknown as Disk; // As above.

t.test('the fullest disk, the hottest sensor, and traffic in ten characters', async (t) => {
  const figures = figuresOf(
    sampleOf({
      cpu: { current_load: 29.4, temperature: 61 },
      memory: { used_percent: 53.2 },
      disks: [diskOf('/', 38), diskOf('/srv/media', 91), diskOf('/net', null)],
      sensors: [
        { label: 'fan', kind: 'fan', value: 800 },
        { label: 'nvme', kind: 'temperature', value: 44 },
        { label: 'k10temp Tctl', kind: 'temperature', value: 66.4 },
      ],
      network: { receive_rate: 2.14 * 1024 ** 2, send_rate: 307 },
      batteries: [{ name: 'BAT0', percent: 12, state: 'discharging' }],
    }),
  );
  t.same(
    figures.map(({ card, label, value }) => [card, label, value]),
    [
      ['cpu', 'Load', '29 %'],
      ['memory', 'Memory', '53 %'],
      ['disks', 'Disk /srv/media', '91 %'],
      ['sensors', 'Hottest', '66 °C'],
      ['network', 'Network, B/s', '↓2.1M ↑307'],
      ['batteries', 'Battery', '12 %'],
    ],
  );
  t.equal(figures.at(-1)?.level, 'raised', 'a charge is low, not high');
});

t.test('what a machine does not have is no figure', async (t) => {
  const bare = figuresOf(
    sampleOf({ cpu: { current_load: null, temperature: 50 }, disks: [diskOf('/', null)] }),
  );
  t.same(
    bare.map(({ card, value }) => [card, value]),
    [
      ['cpu', 'n/a'],
      ['cpu', '50 °C'],
    ],
  );
  t.same(
    figuresOf(sampleOf({})).map(({ value }) => value),
    ['n/a'],
  );
});

t.test('the most urgent events first, of these the newest; information is none', async (t) => {
  const event = (id: number, severity: MachineEvent['severity'], begin: number) =>
    ({ id, severity, begin }) as MachineEvent; // What is looked at.
  const open = [
    event(1, 'warning', 10),
    event(2, 'critical', 5),
    event(3, 'info', 20),
    event(4, 'warning', 15),
  ];
  t.same(
    alarmsIn({ open }).map(({ id }) => id),
    [2, 4, 1],
  );
});

t.test('an event leads to the card of its series', async (t) => {
  for (const [subject, card] of [
    ['disk-full disk.used_percent//srv/media', 'disks'],
    ['hot sensor.temperature/k10temp Tctl', 'sensors'],
    ['my rule memory.pressure', 'memory'],
    ['drive-failing drive.passed/sda', 'drives'],
    ['services systemd.failed', 'events'],
    ['crashed', 'events'],
  ] as const)
    t.equal(cardOf({ subject }), card, subject);
});

t.test('the fullest filesystem is first, and none that is nearly full or silent is folded', async (t) => {
  const many = Array.from({ length: 20 }, (_, i) => diskOf(`/d${i}`, i === 19 ? 100 : 30 + i));
  const [shown, folded] = fullestFirst(many);
  t.equal(shown[0]?.fs, '/d19');
  t.equal(shown.length, 6);
  t.equal(folded.length, 14);
  const [urgent, rest] = fullestFirst(many.map((disk, i) => (i < 9 ? diskOf(disk.fs, 85 + i) : disk)));
  t.equal(urgent.length, 10);
  t.ok(rest.every(({ used_percent }) => levelOf(used_percent) === undefined));
  t.same(
    fullestFirst([
      diskOf('/a', 50.4),
      diskOf('/b', 50.1),
      diskOf('/c', null),
      diskOf('/nfs', null, true),
    ])[0].map(({ fs }) => fs),
    ['/nfs', '/a', '/b', '/c'],
  );
});

t.test('days until full are the newest ones of the service', async (t) => {
  const series = {
    'disk.days_left//': { unit: 'days', mean: [30, null] },
    'disk.days_left//srv/media': { unit: 'days', mean: [9.6, 9.1] },
    'disk.days_left//old': { unit: 'days', mean: [null, null] },
  };
  t.same(
    [...daysLeftIn({ series })],
    [
      ['/', 30],
      ['/srv/media', 9],
    ],
  );
});
