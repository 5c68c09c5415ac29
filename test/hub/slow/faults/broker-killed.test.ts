/** A broker that is killed repeatedly, and stopped for 30 s, behind two hubs: streams continue, and no command is done twice or late. */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createRandom } from '../../../helpers/random.ts';
import { BROKERS } from '../../../hub/broker/setup.ts';
import { isFull, startAgent, startBrokerHub } from './parts.ts';
import { BURST, Scene, stopAndGo } from './scene.ts';

t.setTimeout(1_800_000);

const KILLS = isFull ? 50 : 3;
/** The last of them last long: by then attempts come as seldom as they ever do. */
const LONG_KILLS = isFull ? 5 : 1;
const LONG_MS = isFull ? 20_000 : 5000;

for (const { name, skip, start } of BROKERS) {
  const setScene = async (t: Test, what: string) => {
    const broker = await start(t);
    const agent = await startAgent(t, 'pc', broker.url);
    const hubs = [await startBrokerHub(t, broker.url, 'hub1'), await startBrokerHub(t, broker.url, 'hub2')];
    return { broker, scene: await Scene.set(t, { what: `${name} ${what}`, agent, hubs }) };
  };

  t.test(`[I.hub.faults.broker] ${name} is killed ${KILLS} times`, { skip }, async (t) => {
    const random = createRandom(7);
    const { broker, scene } = await setScene(t, 'killed');
    for (let kill = 1; kill <= KILLS; kill++) {
      await sleep(300 + random.below(1000));
      // Some of them are on their way when it dies.
      scene.commander.burst(random.below(2 * BURST));
      await sleep(random.below(8));
      const before = scene.viewers.map((viewer) => viewer.states().length);
      await broker.kill();
      for (const reason of await scene.shown('down'))
        t.equal(reason, 'the broker is unreachable', `kill ${kill}: the state shown`);
      await sleep(kill > KILLS - LONG_KILLS ? LONG_MS : random.below(800));
      await broker.start();
      await scene.recovered();
      scene.viewers.forEach((viewer, index) => {
        const seen = viewer.states(before[index]);
        t.ok(seen.includes('down') && seen.at(-1) === 'up', `kill ${kill}: ${seen.join(', ')} on the socket`);
      });
    }
    await scene.end();
  });

  t.test(`[I.hub.faults.stopped] ${name} is stopped for 30 s`, { skip }, async (t) => {
    const { broker, scene } = await setScene(t, 'stopped');
    await stopAndGo(t, scene, { signal: (signal) => process.kill(broker.pid, signal) }, /^(?:down,)+up$/);
    await scene.end();
  });
}
