/** Whether a machine can be reached, and what a hub logs about it. */
import t from 'tap';
import { Listeners } from '#src/listeners.js';
import { createLog } from '#src/log/log.js';
import { Reachability } from '#src/machine/reachability.js';
import { FakeClock } from '../helpers/fakes/clock.ts';

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
  await clock.advance(50_000);
  t.equal(flap(), 0, 'the same minute');
  await clock.advance(60_000);
  t.equal(flap(), 10, 'the next one');
  await clock.advance(61_000);
  machine.set({ state: 'up' }, true);
  t.strictSame(lines, [], 'for debugging only');
});
