/** One of two hubs behind a broker is killed, and stopped for 20 s: viewers of the other see nothing of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { BROKERS } from '../../../hub/broker/setup.ts';
import { startAgent, startBrokerHub, startConnectingHub } from './parts.ts';
import { KILLS, Scene, stopAndGo } from './scene.ts';
import { Viewer } from './viewers.ts';

t.setTimeout(1_800_000);

/** Two hubs, and a viewer of the second one, which nothing happens to. */
async function startTwo(t: Test, broker: string) {
  const agent = await startAgent(t, 'pc', broker);
  const hub = await startBrokerHub(t, broker, 'hub1');
  const other = await startBrokerHub(t, broker, 'hub2');
  return { agent, hub, hubs: [hub, other], others: [await Viewer.open(t, other.port, 'pc')] };
}

for (const { name, skip, start } of BROKERS) {
  t.test(
    `[I.hub.faults.hub] one of two hubs behind ${name} is killed ${KILLS} times`,
    { skip },
    async (t) => {
      const { hub, ...cast } = await startTwo(t, (await start(t)).url);
      const scene = await Scene.set(t, { ...cast, what: `a hub behind ${name} killed`, watched: [] });
      for (let kill = 1; kill <= KILLS; kill++) {
        const viewer = await Viewer.open(t, hub.port, 'pc');
        await sleep(1500);
        scene.commander.burst(2);
        await sleep(kill % 8);
        await hub.kill();
        await viewer.stream.connection.closed();
        await sleep(500);
        await hub.start(t);
        const startedAtMs = performance.now();
        // As a browser does: again and again.
        const again = await Viewer.open(t, hub.port, 'pc');
        await scene.recovery.take(t, [again], startedAtMs, { before: [viewer] });
        again.close();
      }
      await scene.end();
    },
  );

  t.test(`[I.hub.faults.stopped] one of two hubs behind ${name} is stopped for 20 s`, { skip }, async (t) => {
    const { hub, ...cast } = await startTwo(t, (await start(t)).url);
    const scene = await Scene.set(t, { ...cast, what: `a hub behind ${name} stopped`, watched: [hub] });
    await stopAndGo(t, scene, hub);
    await scene.end();
  });
}

t.test('[I.hub.faults.stopped] a hub that connects to its agents is stopped for 20 s', async (t) => {
  const agent = await startAgent(t, 'pc', undefined);
  const hub = await startConnectingHub(t, { pc: `http://127.0.0.1:${agent.part.port}` });
  const scene = await Scene.set(t, { what: 'a hub that connects to its agents stopped', agent, hubs: [hub] });
  await stopAndGo(t, scene, hub);
  await scene.end();
});
