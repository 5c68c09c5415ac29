/** What a hub remembers of its machines, and the file that it keeps it in. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { createLog } from '#src/log/log.js';
import { type Noted, Registry } from '#src/machine/registry.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { until } from '../helpers/until.ts';

const FIGURES = {
  timestamp: 5,
  uptime: 7,
  cpu: { current_load: 12.5, current_temp: 0, current_speed: 3.2 },
  memory: { used: 1, free: 2, used_percent: 33.3 },
  gpu: null,
  disks: [{ fs: '/', used: 1, available: 2, used_percent: 33.3 }],
  network: { bytesSent: 3, bytesRecv: 4 },
};
const SYSTEM = {
  hostname: 'nas',
  platform: 'linux',
  os: { name: 'Debian GNU/Linux', version: '12', build: '6.1', arch: 'x64' },
  cpu: { manufacturer: 'Intel', brand: 'Core i5', cores: 4, physical_cores: 2, base_speed: null },
  gpu: null,
  memory: { total: 8, slots: null },
  disks: [],
  network: null,
  service: { version: '0.9.0' },
  interfaces: [
    { kind: 'loopback', addresses: ['127.0.0.1'] },
    { kind: 'ethernet', addresses: ['192.168.1.7', 'fe80::1'] },
  ],
};
const DAY_MS = 86_400_000;

type Machine = { -readonly [K in keyof Noted]: Noted[K] };

const machineOf = (id: string): Machine => ({
  id,
  condition: { state: 'up', since: 100 },
  status: { run: 'r1', name: `${id}.lan`, labels: { site: 'berlin' } },
  newest: undefined,
});

const sampleOf = (payload: object, takenAtMs: number) => ({
  takenAtMs,
  payload: Buffer.from(JSON.stringify(payload)),
});

/** Registries on one file, as one hub after another has them. */
function openFolder(folder: string) {
  const clock = new FakeClock();
  const file = path.join(folder, 'machines.jsonl');
  const log: string[] = [];
  const asked: string[] = [];
  const machines: Machine[] = [];
  let unixMs = 1_700_000_000_000;
  const open = (at: string | undefined = file) =>
    new Registry({
      path: at,
      clock,
      log: createLog((line) => log.push(line)),
      machines: () => machines,
      onNewRun: (id) => asked.push(id),
      unixMs: () => unixMs,
    });
  const pass = async (ms: number) => {
    unixMs += ms;
    await clock.advance(ms);
  };
  return { clock, file, log, asked, machines, open, pass };
}

const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').filter(Boolean);

t.test('after a restart a machine has its name, labels, condition, facts and last values', async (t) => {
  const { clock, file, asked, machines, open, pass } = openFolder(t.testdir());
  const first = open();
  const nas = machineOf('nas');
  machines.push(nas);
  first.note(nas);
  t.strictSame(asked, ['nas'], 'its facts of this run are not known');
  first.takeSystem('nas', 'r1', SYSTEM);
  nas.newest = sampleOf(FIGURES, clock.now() - 500);
  nas.condition = { state: 'down', since: 1_700_000_000, reason: 'its agent is offline' };
  first.note(nas);
  nas.newest = undefined;
  await first.close();
  t.equal(statSync(file).mode & 0o777, 0o600);

  await pass(10 * DAY_MS);
  const second = open();
  t.match(second.recall('nas'), {
    name: 'nas.lan',
    labels: { site: 'berlin' },
    condition: { state: 'down', since: 1_700_000_000, reason: 'its agent is offline' },
  });
  t.strictSame(second.facts('nas'), {
    version: '0.9.0',
    os: 'Debian GNU/Linux 12',
    model: 'Core i5',
    addresses: ['192.168.1.7', 'fe80::1'],
  });
  t.strictSame(JSON.parse(second.usage('nas') ?? ''), { as_of: 1_699_999_999.5, ...FIGURES });
  t.strictSame(
    JSON.parse(second.usage('nas', 1) ?? ''),
    { as_of: 1_699_999_999.5, timestamp: 5, uptime: 7, cpu: FIGURES.cpu },
    'the sections of a view',
  );
  const { service, interfaces, ...plain } = SYSTEM;
  t.strictSame(JSON.parse(second.system('nas') ?? ''), { as_of: 1_700_000_000, ...plain });
  t.strictSame([service.version, interfaces.length], ['0.9.0', 2]);
  nas.condition = { state: 'up', since: 1_700_864_000 };
  second.note(nas);
  t.strictSame(asked, ['nas'], 'the same run is not asked again');
  nas.status = { run: 'r2', name: undefined, labels: {} };
  second.note(nas);
  t.strictSame(asked, ['nas', 'nas']);
  await second.close();
});

t.test('one that was there when the hub ended is down until it is reached', async (t) => {
  const { machines, open, pass } = openFolder(t.testdir());
  const first = open();
  machines.push(machineOf('nas'));
  for (const machine of machines) first.note(machine);
  await first.close();
  await pass(5000);
  t.strictSame(open().recall('nas')?.condition, {
    state: 'down',
    since: 1_700_000_005,
    reason: 'not reached since the hub started',
  });
});

t.test('one that was never there is not remembered, and a forgotten one is unknown', async (t) => {
  const { open } = openFolder(t.testdir());
  const registry = open();
  registry.note({ ...machineOf('nas'), condition: { state: 'refused', since: 1 } });
  t.equal(registry.recall('nas'), undefined);
  registry.note(machineOf('nas'));
  t.ok(registry.recall('nas'));
  registry.forget('nas');
  t.equal(registry.recall('nas'), undefined);
  t.equal(registry.usage('nas'), undefined);
  await registry.close();
});

t.test('it is written once in half a minute, and not at all where nothing changes', async (t) => {
  const { file, machines, open, pass, clock } = openFolder(t.testdir());
  const registry = open();
  const nas = machineOf('nas');
  machines.push(nas);
  registry.note(nas);
  await pass(29_000);
  t.notOk(existsSync(file));
  nas.status = { run: 'r1', name: 'other', labels: {} };
  registry.note(nas);
  await pass(1000);
  await until(() => existsSync(file));
  t.match(linesOf(file), [/"name":"other"/]);
  t.equal(clock.timers, 0, 'an idle hub has no timer for it');

  nas.newest = sampleOf(FIGURES, clock.now());
  registry.note(nas);
  for (const load of [1, 2]) {
    nas.newest = sampleOf({ ...FIGURES, cpu: { ...FIGURES.cpu, current_load: load } }, clock.now());
    await pass(30_000);
    await until(() => linesOf(file)[0]?.includes(`\\"current_load\\":${load}`) === true);
  }
  t.pass('the values of a watched machine are written while they change');
  await registry.close();
});

t.test('machines that are not configured leave after 30 days', async (t) => {
  const { file, machines, open, pass } = openFolder(t.testdir());
  const first = open();
  for (const id of ['configured', 'gone', 'back']) first.note(machineOf(id));
  machines.push({ ...machineOf('configured'), condition: { state: 'down', since: 1 } });
  await pass(20 * DAY_MS);
  first.note(machineOf('back'));
  await pass(11 * DAY_MS);
  await first.close();
  t.strictSame(
    linesOf(file)
      .map((line) => JSON.parse(line).id)
      .sort(),
    ['back', 'configured'],
  );
});

t.test('of a broken file the valid lines are taken, and it is replaced', async (t) => {
  const { file, log, machines, open } = openFolder(t.testdir());
  const first = open();
  for (const id of ['a', 'b']) machines.push(machineOf(id));
  for (const machine of machines) first.note(machine);
  await first.close();
  const [a = '', b = ''] = linesOf(file);
  const broken = [
    '{',
    'null',
    '{"id":"c"}',
    '{"id":"d","condition":{"state":"asleep"},"seen":1}',
    b.slice(0, 40),
  ];
  writeFileSync(file, [a, ...broken, '\0\xff', ''].join('\n'));
  const second = open();
  t.equal(second.size, 1);
  t.match(second.recall('a'), { name: 'a.lan' });
  t.match(log, [/warn: hub\.state_path: 6 of 8 lines cannot be read/]);
  second.note(machineOf('b'));
  await second.close();
  t.equal(linesOf(file).length, 2);
});

t.test('a file that cannot be read or written is reported once and costs nothing else', async (t) => {
  const { log, machines, open, pass } = openFolder(t.testdir());
  const folder = path.join(t.testdirName, 'missing');
  const file = path.join(folder, 'machines.jsonl');
  const registry = open(file);
  const nas = machineOf('nas');
  machines.push(nas);
  registry.note(nas);
  for (let writes = 0; writes < 3; writes++) await pass(30_000);
  await until(() => log.length > 0);
  t.match(log, [/warn: hub\.state_path: it cannot be written: ENOENT/]);
  mkdirSync(folder);
  await pass(30_000);
  await until(() => existsSync(file));
  await until(() => log.length > 1);
  t.match(log[1], /info: hub\.state_path: it can be written again/);
  await registry.close();
  t.match(open(folder).size, 0);
  t.match(log[2], /warn: hub\.state_path: it cannot be read: it is not a file/);
});

/** A registry in a process whose files cannot grow beyond 4 KiB, as on a disk that is full. */
const FULL = `
const { Registry } = await import(process.argv[1]);
const log = { info: console.log, warn: console.log };
const clock = { now: () => performance.now(), setTimer: setTimeout, clearTimer: clearTimeout };
const registry = new Registry({ path: process.argv[2], clock, log, machines: () => [], onNewRun: () => {} });
for (let i = 0; i < 500; i++)
  registry.note({ id: 'm' + i, condition: { state: 'up', since: 1 }, status: undefined, newest: undefined });
await registry.close();
console.log(registry.recall('m7').condition.state);
`;

t.test('a full disk leaves the file as it was, and nothing beside it', (t) => {
  const { file } = openFolder(t.testdir({ 'machines.jsonl': '' }));
  const args = [process.execPath, '--input-type=module', '--eval', FULL];
  args.push(import.meta.resolve('#src/machine/registry.js'), file);
  const run = spawnSync('sh', ['-c', 'ulimit -f 8 && exec "$@"', 'sh', ...args], { encoding: 'utf8' });
  t.match(run, { status: 0, stdout: /^hub\.state_path: it cannot be written: EFBIG.*\nup\n$/, stderr: '' });
  t.strictSame(readdirSync(path.dirname(file)), ['machines.jsonl']);
  t.equal(readFileSync(file, 'utf8'), '');
  t.end();
});

t.test('much of one machine is not kept whole', async (t) => {
  const { clock, machines, open } = openFolder(t.testdir());
  const registry = open(undefined);
  const disks = Array.from({ length: 200 }, (_, i) => ({
    fs: `/mnt/${i}`,
    used: 1,
    available: 2,
    used_percent: 3,
  }));
  const nas = { ...machineOf('nas'), newest: sampleOf({ ...FIGURES, disks, sensors: [1] }, clock.now()) };
  machines.push(nas);
  registry.note(nas);
  t.strictSame(Object.keys(JSON.parse(registry.usage('nas') ?? '')), [
    'as_of',
    'timestamp',
    'uptime',
    'cpu',
    'memory',
  ]);
  registry.takeSystem('nas', 'r1', {
    ...SYSTEM,
    disks: disks.map(({ fs }) => ({ fs, type: null, size: 1, mount: fs })),
  });
  t.strictSame(JSON.parse(registry.system('nas') ?? '').disks, []);
  await registry.close();
});
