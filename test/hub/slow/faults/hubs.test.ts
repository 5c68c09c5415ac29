/** A hub is killed, and stopped for 30 s, on each way; viewers of a second one behind a broker see nothing of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type Part, startBrokerHub } from './parts.ts';
import { BURST, type Cast, KILLS, Scene, stopAndGo } from './scene.ts';
import { Viewer } from './viewers.ts';
import { WAYS } from './ways.ts';

t.setTimeout(1_800_000);

/** `broker`: the URL of the broker, at which there is a second hub with a viewer, which nothing happens to. */
async function beside(t: Test, { agent, hubs, broker }: Pick<Cast, 'agent' | 'hubs'> & { broker?: string }) {
  const [hub] = hubs as readonly [Part];
  if (broker === undefined) return { hub, agent, hubs };
  const other = await startBrokerHub(t, broker, 'hub2');
  return { hub, agent, hubs: [hub, other], others: [await Viewer.open(t, other.port, 'pc')] };
}

for (const { name, skip, start } of WAYS) {
  t.test(`[I.hub.faults.hub] the hub of a machine ${name} is killed ${KILLS} times`, { skip }, async (t) => {
    const { hub, ...cast } = await beside(t, await start(t));
    const scene = await Scene.set(t, { ...cast, what: `the hub of a machine ${name} killed`, watched: [] });
    for (let kill = 1; kill <= KILLS; kill++) {
      const viewer = await Viewer.open(t, hub.port, 'pc');
      await sleep(1000);
      scene.commander.burst(BURST);
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
  });

  t.test(`[I.hub.faults.stopped] the hub of a machine ${name} is stopped for 30 s`, { skip }, async (t) => {
    const { hub, ...cast } = await beside(t, await start(t));
    const what = `the hub of a machine ${name} stopped`;
    const scene = await Scene.set(t, { ...cast, what, watched: [hub] });
    await stopAndGo(t, scene, hub);
    await scene.end();
  });
}
