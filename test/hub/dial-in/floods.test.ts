/** Machines that dial in and send as fast as they can: each is cut, and the others notice nothing. */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { ask } from '../../helpers/clients/http.ts';
import { until } from '../../helpers/until.ts';
import { frameOf } from '../played-machine.ts';
import { isUp, startHub, watchPlayed } from '../setup.ts';
import { Dialler, dialled } from './setup.ts';

t.setTimeout(280_000);

/** Far more than any burst. */
const FRAMES = 20_000;

for (const [name, send] of [
  ['messages', ({ socket }) => socket.send(frameOf('x', {}))],
  ['samples', ({ machine }, n) => machine.sample({ timestamp: n, uptime: 2 })],
  ['answers to nothing', ({ socket }) => socket.send(frameOf('answer', { body: {} }, 'x'))],
  ['fragments', ({ socket }) => socket.send('x', { fin: false })],
  ['pings', ({ socket }) => socket.ping()],
  ['pongs', ({ socket }) => socket.pong()],
] satisfies [string, (agent: Dialler, n: number) => void][])
  t.test(`[I.hub.dial.pace] a machine that floods the hub with ${name}`, async (t) => {
    const hub = await startHub(t, { pc: dialled(), nas: dialled() });
    const nas = new Dialler(t, hub.port, { id: 'nas' });
    const viewer = await watchPlayed(hub, nas.machine, 'nas');
    const enteredAtMs = performance.now();
    const pc = new Dialler(t, hub.port);
    const watched = await watchPlayed(hub, pc.machine, 'pc');
    for (let n = 1; n <= FRAMES; n++) {
      if (pc.isOpen) send(pc, n);
      if (n % 1000 > 0) continue;
      // The sent bytes leave, and the honest machine has its turn.
      await turn();
      nas.machine.sample({ timestamp: n });
      if ((await ask(hub.port, '/api/status')).status !== 200) t.fail('the hub does not answer');
    }
    await pc.end();
    t.match(await hub.host('pc', (row) => !isUp(row)), { state: 'down' });
    t.match(hub.log.join(''), /host pc is down: /);
    const max = 402 + (20 * (performance.now() - enteredAtMs)) / 1000;
    t.ok(watched.count() <= max, `${watched.count()} of ${FRAMES} samples were passed on, at most ${max}`);
    // Samples that arrive faster than they are sent are skipped.
    await until(() => {
      viewer.count();
      return viewer.events.at(-1)?.text.includes(`"timestamp":${FRAMES},`) ? true : undefined;
    });
    // A new connection has no new burst, but it is taken in the end.
    await until(async () => {
      void new Dialler(t, hub.port, {}, pc.machine);
      await sleep(500);
      return isUp(await hub.host('pc'));
    });
  });
