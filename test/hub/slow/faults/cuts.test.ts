/**
 * The network cut for 30 s, without a word to anybody: between an agent and its broker, between a hub and its broker,
 * and between a hub and an agent to which it connects. Others see nothing of it.
 */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type Cable, layCable, reasonAgainstCable } from '../../../helpers/clients/network-namespace.ts';
import { BROKERS } from '../../../hub/broker/setup.ts';
import { isFull, startAgent, startBrokerHub, startConnectingHub } from './parts.ts';
import { type Cast, Scene } from './scene.ts';
import { stateOf, Viewer } from './viewers.ts';

t.setTimeout(1_800_000);

const NO_CABLE = reasonAgainstCable();
const CUT_MS = 30_000;
const CUTS = isFull ? 3 : 1;

async function suffer(t: Test, cable: Cable, downReason: RegExp, cast: Cast): Promise<void> {
  const scene = await Scene.set(t, cast);
  const { what, viewer } = scene;
  for (let cut = 1; cut <= CUTS; cut++) {
    await sleep(3000);
    const [before, cutAtMs] = [viewer.states().length, performance.now()];
    cable.cut();
    const [reason = ''] = await scene.shown('down');
    t.match(reason, downReason, `cut ${cut}: shown as down`);
    t.comment(`${what} ${cut}: down after ${((performance.now() - cutAtMs) / 1000).toFixed(1)} s: ${reason}`);
    await sleep(Math.max(0, CUT_MS - (performance.now() - cutAtMs)));
    t.equal((await stateOf(viewer.port, 'pc', () => true)).state, 'down', `cut ${cut}: and so it stays`);
    cable.mend();
    await scene.recovered();
    t.same([...new Set(viewer.states(before))], ['down', 'up'], `cut ${cut}: on the socket`);
    scene.checkOthers(cutAtMs);
  }
  await scene.end();
}

for (const { name, skip, start } of BROKERS) {
  const options = { skip: skip || NO_CABLE };
  t.test(`[I.hub.faults.cut] an agent is cut from ${name}`, options, async (t) => {
    const cable = layCable(t);
    const broker = await start(t, { host: cable.address, start: spawn });
    const agent = await startAgent(t, 'pc', broker.url, { start: cable.start, host: cable.far });
    await startAgent(t, 'near', broker.url);
    const hub = await startBrokerHub(t, broker.url, 'hub1');
    const others = [await Viewer.open(t, hub.port, 'near')];
    const what = `an agent cut from ${name}`;
    await suffer(t, cable, /no message|offline/, { what, agent, hubs: [hub], others });
  });

  t.test(`[I.hub.faults.cut] a hub is cut from ${name}`, options, async (t) => {
    const cable = layCable(t);
    const broker = await start(t, { host: cable.far, start: cable.start });
    const agent = await startAgent(t, 'pc', broker.url, { start: cable.start, host: cable.far });
    const hub = await startBrokerHub(t, broker.url, 'hub1');
    await suffer(t, cable, /no message|broker/, { what: `a hub cut from ${name}`, agent, hubs: [hub] });
  });
}

t.test('[I.hub.faults.cut] an agent is cut from a hub that connects to it', { skip: NO_CABLE }, async (t) => {
  const cable = layCable(t);
  const agent = await startAgent(t, 'pc', undefined, { start: cable.start, host: cable.far });
  const { part: near } = await startAgent(t, 'near', undefined);
  const hub = await startConnectingHub(t, {
    pc: `http://${cable.far}:${agent.part.port}`,
    near: `http://127.0.0.1:${near.port}`,
  });
  const others = [await Viewer.open(t, hub.port, 'near')];
  const what = 'an agent cut from the hub that connects to it';
  await suffer(t, cable, /no message|answer/, { what, agent, hubs: [hub], others });
});
