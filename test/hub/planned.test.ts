/** Machines that say how they go: what a hub shows of them until they are back, also after its own restart. */
import path from 'node:path';
import t from 'tap';
import { PlayedMachine } from './played-machine.ts';
import { isUp, startHub } from './setup.ts';

const ENDS = [
  { reason: 'sleep', state: 'asleep' },
  { reason: 'hibernate', state: 'asleep' },
  { reason: 'shutdown', state: 'off' },
  { reason: 'restart', state: 'off' },
  { reason: 'stop', state: 'down' },
] as const;

for (const { reason, state } of ENDS)
  t.test(`[11.states] ${reason}: ${state} until it is back, and after a restart of the hub`, async (t) => {
    const machine = await PlayedMachine.start(t);
    const { port } = machine;
    const config = { hub: { state_path: path.join(t.testdir(), 'machines') } };
    const agents = { pc: { url: machine.url } };
    const hub = await startHub(t, agents, config);
    await hub.host('pc', isUp);
    machine.say('closing', { reason });
    const gone = await hub.host('pc', (row) => row.state === state);
    machine.stop();
    // Attempts to reach it fail now.
    await hub.host('pc', ({ since }) => Date.now() / 1000 - since > 1);
    const later = await hub.host('pc');
    t.equal(later.state, state);
    t.equal(later.since, gone.since, 'since it went');
    t.equal(later.reason, gone.reason, 'and why');
    await hub.stop();
    const next = await startHub(t, agents, config);
    await new Promise((resolve) => setTimeout(resolve, 500));
    t.equal((await next.host('pc')).state, state, 'the next hub remembers it');
    await PlayedMachine.start(t, port);
    await next.host('pc', isUp);
  });
