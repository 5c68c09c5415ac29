/** One of two hubs behind a broker is killed, and stopped for 20 s: viewers of the other see nothing of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { BROKERS } from '../../../agent/reporter/rig.ts';
import { Commander, judge } from './commands.ts';
import { isFull, type Part, startAgent, startBrokerHub, startConnectingHub } from './parts.ts';
import { longestPause, Recovery, rowsOf, stateOf, Viewer } from './viewers.ts';

t.setTimeout(1_800_000);

const KILLS = isFull ? 10 : 2;
const STOPS = isFull ? 3 : 1;
const STOP_MS = 20_000;
/** With the bursts fewer than the 150 lines per minute and address that a log takes. */
const EVERY_MS = 600;
/** Maximum pause of an undisturbed stream of one sample per second, on a busy machine. */
const MAX_PAUSE_MS = 3000;

for (const { name, skip, start } of BROKERS) {
  t.test(
    `[I.hub.faults.hub] one of two hubs behind ${name} is killed ${KILLS} times`,
    { skip },
    async (t) => {
      const broker = await start(t);
      const { part: agent, marks } = await startAgent(t, 'pc', broker.url);
      const hub = await startBrokerHub(t, broker.url, 'hub1');
      const other = await startBrokerHub(t, broker.url, 'hub2');
      const untouched = await Viewer.open(t, other.port, 'pc');
      const beganAtMs = performance.now();
      const commander = new Commander(t, 'pc', [hub.port, other.port], EVERY_MS);
      const recovery = new Recovery(`a hub behind ${name} killed`);
      for (let kill = 1; kill <= KILLS; kill++) {
        const viewer = await Viewer.open(t, hub.port, 'pc');
        await sleep(1500);
        commander.burst(2);
        await sleep(kill % 8);
        await hub.kill();
        await viewer.stream.connection.closed();
        await sleep(500);
        await hub.start(t);
        const startedAtMs = performance.now();
        // As a browser does: again and again.
        const again = await Viewer.open(t, hub.port, 'pc');
        await recovery.take(t, [again], startedAtMs, { before: [viewer] });
        again.close();
      }
      const pauseMs = longestPause(untouched, beganAtMs);
      t.ok(pauseMs < MAX_PAUSE_MS, `the stream of the other pauses for ${pauseMs.toFixed(0)} ms at most`);
      t.same(untouched.states(), ['up'], 'and has seen no other state');
      t.notOk(untouched.stream.isEnded || untouched.stream.connection.isClosed);
      await commander.stop();
      recovery.report(t);
      await judge(t, `a hub behind ${name} killed`, commander.sent, marks, {
        agent: agent.log,
        hubs: hub.log + other.log,
      });
    },
  );

  t.test(`[I.hub.faults.stopped] one of two hubs behind ${name} is stopped for 20 s`, { skip }, async (t) => {
    const broker = await start(t);
    const { part: agent, marks } = await startAgent(t, 'pc', broker.url);
    const hub = await startBrokerHub(t, broker.url, 'hub1');
    const other = await startBrokerHub(t, broker.url, 'hub2');
    const untouched = await Viewer.open(t, other.port, 'pc');
    const viewer = await Viewer.open(t, hub.port, 'pc');
    const beganAtMs = performance.now();
    const commander = new Commander(t, 'pc', [hub.port, other.port], EVERY_MS);
    await stopAndGo(t, `a hub behind ${name} stopped`, hub, viewer);
    const pauseMs = longestPause(untouched, beganAtMs);
    t.ok(pauseMs < MAX_PAUSE_MS, `the stream of the other pauses for ${pauseMs.toFixed(0)} ms at most`);
    t.same(untouched.states(), ['up'], 'and has seen no other state');
    await commander.stop();
    await judge(t, `a hub behind ${name} stopped`, commander.sent, marks, {
      agent: agent.log,
      hubs: hub.log + other.log,
    });
  });
}

t.test('[I.hub.faults.stopped] a hub that connects to its agents is stopped for 20 s', async (t) => {
  const { part: agent, marks } = await startAgent(t, 'pc', undefined);
  const hub = await startConnectingHub(t, { pc: `http://127.0.0.1:${agent.port}` });
  const viewer = await Viewer.open(t, hub.port, 'pc');
  const commander = new Commander(t, 'pc', [hub.port], EVERY_MS);
  await stopAndGo(t, 'a hub that connects to its agents stopped', hub, viewer);
  await commander.stop();
  await judge(t, 'a hub that connects to its agents stopped', commander.sent, marks, {
    agent: agent.log,
    hubs: hub.log,
  });
});

async function stopAndGo(t: Test, what: string, hub: Part, viewer: Viewer): Promise<void> {
  const recovery = new Recovery(what);
  for (let stop = 1; stop <= STOPS; stop++) {
    await sleep(2000);
    hub.signal('SIGSTOP');
    await sleep(STOP_MS);
    hub.signal('SIGCONT');
    await recovery.take(t, [viewer], performance.now());
    await stateOf(hub.port, 'pc', ({ state }) => state === 'up');
    t.equal((await rowsOf(hub.port)).length, 1);
  }
  t.notOk(viewer.stream.isEnded || viewer.stream.connection.isClosed, 'the stream has not ended');
  recovery.report(t);
}
