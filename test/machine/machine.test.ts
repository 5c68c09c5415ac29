/** A machine as viewers see it: its description, what it is asked, whether it can be reached. */
import t from 'tap';
import { mediaCommands } from '#src/commands/media.js';
import { powerCommands } from '#src/commands/power.js';
import { processCommands } from '#src/commands/process.js';
import { wakeCommands } from '#src/commands/wake.js';
import { Listeners } from '#src/listeners.js';
import { createLog } from '#src/log/log.js';
import { Describer } from '#src/machine/description.js';
import { paramsOf } from '#src/machine/query.js';
import { Reachability } from '#src/machine/reachability.js';
import { REQUESTS, requestOfMessage } from '#src/machine/requests.js';
import { OPERATIONS, type Operation } from '#src/wire/operations.js';
import { OPS } from '#src/wire/socket.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { configWith } from '../helpers/fakes/config-parts.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { LONG, scansOf } from '../helpers/scans.ts';

function create() {
  const clock = new FakeClock();
  const lines: string[] = [];
  const changed: string[] = [];
  const conditions = new Listeners<readonly [id: string]>();
  conditions.add((id) => changed.push(id));
  const machine = new Reachability('nas', {
    clock,
    log: createLog((line) => lines.push(line.trim()), 'info'),
    conditions,
  });
  return { clock, lines, changed, machine };
}

t.test('the state of a machine lasts while its reasons change', async (t) => {
  const { machine, lines, changed } = create();
  t.match(machine.condition, { state: 'unknown', reason: 'not contacted yet' });
  const { since } = machine.condition;
  machine.set({ state: 'down', reason: 'no route' });
  machine.set({ state: 'down', reason: 'no route' });
  machine.set({ state: 'down', reason: 'refused' });
  t.strictSame(machine.condition, { state: 'unknown', since, reason: 'refused' }, 'it was never there');
  t.equal(machine.isUp, false);
  t.match(machine.refusal(), { code: 'host_unreachable', details: { state: 'unknown', reason: 'refused' } });
  machine.set({ state: 'up' });
  t.equal(machine.isUp, true);
  t.strictSame(changed, ['nas', 'nas', 'nas'], 'each change, and no repetition');
  t.equal(machine.version, 3);
  machine.set({ state: 'down', reason: 'it was there' });
  t.match(machine.condition, { state: 'down', reason: 'it was there' });
  t.match(lines, [/host nas is unknown: no route$/, /host nas is up$/, /host nas is down: it was there$/]);
});

t.test('a machine that comes and goes fills no log: ten lines a minute', async (t) => {
  const { machine, lines, clock } = create();
  const flap = () => {
    for (let change = 0; change < 20; change++) machine.set({ state: change % 2 === 0 ? 'up' : 'down' });
    return lines.splice(0).length;
  };
  t.equal(flap(), 10);
  await clock.advance(30_000);
  t.equal(flap(), 5, 'half a minute later');
  await clock.advance(600_000);
  t.equal(flap(), 10, 'never more');
  await clock.advance(61_000);
  machine.set({ state: 'up' }, true);
  t.strictSame(lines, [], 'for debugging only');
});

/** One pass takes 50; one for each of 4,000 keys took 5,000. */
const MAX_SCANS = 1000;
const TYPES = { numbers: ['n'], booleans: ['b'] };

t.test('the time of a query is in proportion to its length', async (t) => {
  const keys: string[] = [];
  for (let length = 0; length < LONG - 500; length += (keys.at(-1) ?? '').length + 1)
    keys.push(keys.length.toString(36));
  const query = new URLSearchParams(keys.join('&'));
  const scans = scansOf(() => paramsOf(query, TYPES), MAX_SCANS);
  t.ok(scans <= MAX_SCANS, `${keys.length} keys, ${scans.toFixed(0)} scans`);
  t.equal(Object.keys(paramsOf(query, TYPES)).length, keys.length);
});

t.test('keys keep their order, and the values of a repeated one theirs', async (t) => {
  const params = paramsOf(new URLSearchParams('x=1&n=2&b=1&x=&n=3&y=4&x=5&c=true'), TYPES);
  t.strictSame(Object.entries(params), [
    ['x', ['1', '', '5']],
    ['n', ['2', '3']],
    ['b', true],
    ['y', '4'],
    ['c', 'true'],
  ]);
});

const config = { current: configWith({ host: { id: 'pc', name: 'desk', labels: { site: 'berlin' } } }) };

t.test('[11.machine] what takes a thread is unknown until it was read, once for all', async (t) => {
  const host = fixtureHost();
  const { readSystem } = host;
  let readings = 0;
  let isBroken = false;
  host.readSystem = async () => {
    readings++;
    if (isBroken) throw new Error('gone');
    return await readSystem();
  };
  const describer = new Describer({ config, host, facts: { version: '1' } });
  const known = { id: 'pc', name: 'desk', labels: { site: 'berlin' }, version: '1' };
  t.strictSame(describer.describe(), { ...known, os: null, model: null, addresses: [] });
  for (let i = 0; i < 100; i++) describer.describe();
  await new Promise(setImmediate);
  t.equal(readings, 1, 'of a hundred and one');
  const { os, model, network } = await readSystem();
  t.strictSame(describer.describe(), {
    ...known,
    os: `${os.name} ${os.version}`.trim(),
    model,
    addresses: [network?.ipv4, network?.ipv6].filter((address) => typeof address === 'string'),
  });
  isBroken = true;
  await describer.read();
  t.equal(describer.describe().model, model, 'what was read before stays');
});

/** The rows of a group of commands, none of which is run here. */
const rowsOf = (create: (control: never) => readonly { readonly name: string }[]) =>
  create(undefined as never);
const COMMANDS = [powerCommands, mediaCommands, processCommands, wakeCommands].flatMap(rowsOf);

t.test('each command has a row, and each row of a command a command', async (t) => {
  const rows = [...REQUESTS.values()].filter(({ isCommand }) => isCommand);
  t.strictSame(rows.map(({ name }) => name).sort(), COMMANDS.map(({ name }) => name).sort());
});

t.test(
  'each operation on a machine of a hub has a row, unless it is a stream or the hub answers it',
  async (t) => {
    const rows: Readonly<Record<string, Operation>> = OPERATIONS;
    const others = ['openStream', 'openSocket', 'getAccess'];
    const isAsked = (id: string) => rows[id]?.onHost !== undefined && !others.includes(id);
    const onHost = Object.keys(rows).filter(isAsked);
    const named = new Set<string>([...REQUESTS.values()].map(({ operation }) => operation));
    t.strictSame([...named].sort(), onHost.sort());
  },
);

t.test('each op asks the machine, or concerns its socket only', async (t) => {
  const own = ['subscribe', 'unsubscribe', 'get', 'ping'];
  for (const op of Object.keys(OPS)) {
    const data = { action: op === 'power' ? 'sleep' : 'play', name: 'system' };
    const asked = requestOfMessage({ op, id: undefined, data } as never); // Other data do not matter here.
    t.equal(asked !== undefined, !own.includes(op), op);
    if (asked !== undefined) t.ok(REQUESTS.has(asked.what), asked.what);
  }
});
