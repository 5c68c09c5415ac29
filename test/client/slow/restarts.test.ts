/**
 * A service that is restarted again and again under a stream and a socket: no subscription is lost, no sample arrives
 * twice, nothing is left behind. HOSTWIRE_FULL=1: 100 times, and 100 times as a program that is also killed.
 */
import '../../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import type { AnyStats } from '#src/client/client.js';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { startHere, startService } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { liveClients, markOf } from '../live-clients.ts';
import { markedHost, PER_START } from '../marked-host.ts';

const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
const RESTARTS = IS_FULL ? 100 : 12;
const RESTARTS_OF_PROGRAM = IS_FULL ? 100 : 4;

t.setTimeout(IS_FULL ? 600_000 : 280_000);

interface Started {
  readonly stop: () => Promise<unknown>;
}

/** Both clients survive `restarts` of the service that `start` starts on a given port. */
async function liveThrough(
  t: Test,
  restarts: number,
  start: (number: number, port: number) => Promise<Started>,
) {
  const port = await findFreePort();
  let service = await start(0, port);
  t.teardown(() => service.stop());
  const clients = liveClients({ url: `http://127.0.0.1:${port}` });
  t.teardown(() => clients.close());
  const { samples, pushed, events, socket } = clients;
  await socket.subscribe(['stats', 'media'], { detail: true });
  await socket.subscribe(['power'], { mode: 'add' });
  const all = () => `${samples.length} samples, ${pushed.length} pushed, ${events.join(' ')}`;
  const startedAt = performance.now();
  for (let i = 0; ; i++) {
    await until(() => samples.length > 0 && pushed.length > 0, all);
    await until(() => events.includes('media_update') && events.includes('power_update'), all);
    if (i === restarts) break;
    t.ok(clients.timers() <= 2, 'a watchdog each');
    t.equal(clients.listeners(), 2, 'one for the signal each');
    await service.stop();
    // Everything of this one was received; later events belong to the next.
    await until(() => clients.stream.state.state !== 'open' && socket.state.state !== 'open', all);
    const seen = { samples: [...samples], pushed: [...pushed] };
    checkOnce(t, seen.samples, seen.pushed);
    for (const list of [samples, pushed, events]) list.length = 0;
    service = await start(i + 1, port);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  t.comment(`figure: ${restarts} restarts in ${seconds.toFixed(1)} s, nothing lost, nothing twice`);
  clients.close();
  await until(
    () => clients.timers() === 0,
    () => `${clients.timers()} timers left`,
    1000,
  );
  t.equal(clients.listeners(), 0, 'no listener is left');
  await until(
    () => !process.getActiveResourcesInfo().includes('TCPSocketWrap'),
    () => process.getActiveResourcesInfo().join(' '),
  );
  return clients;
}

/** No sample of one service twice or out of order. */
function checkOnce(t: Test, ...lists: readonly (readonly AnyStats[])[]): void {
  for (const list of lists) {
    const texts = list.map((sample) => JSON.stringify(sample));
    t.equal(new Set(texts).size, texts.length, 'each once');
  }
}

t.test(`${RESTARTS} restarts with two subscribers`, async (t) => {
  const marks: number[] = [];
  const clients = await liveThrough(t, RESTARTS, async (number, port) => {
    marks.push(number);
    return startHere(markedHost(number), {}, { port });
  });
  t.equal(marks.length, RESTARTS + 1);
  for (const list of [clients.samples, clients.pushed])
    t.equal(Math.floor(markOf(list.at(-1)) / PER_START), RESTARTS, 'the last is of the last');
});

t.test(`${RESTARTS_OF_PROGRAM} restarts of the program, stopped and killed in turn`, async (t) => {
  await liveThrough(t, RESTARTS_OF_PROGRAM, async (number, port) => {
    const service = await startService({ port });
    return { stop: () => service.stop(number % 2 === 0 ? 'SIGTERM' : 'SIGKILL') };
  });
});
