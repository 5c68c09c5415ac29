/**
 * The network cut for 30 s, without a word to anybody: between an agent and its broker, between a hub and its broker,
 * and between a hub and an agent to which it connects. Others see nothing of it.
 */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { BROKERS } from '../../../agent/reporter/rig.ts';
import { type Cable, layCable, reasonAgainstCable } from '../../../helpers/clients/network-namespace.ts';
import { Commander, judge, type Marks } from './commands.ts';
import { isFull, type Part, startAgent, startBrokerHub, startConnectingHub } from './parts.ts';
import { longestPause, Recovery, stateOf, Viewer } from './viewers.ts';

t.setTimeout(1_800_000);

const NO_CABLE = reasonAgainstCable();
const CUT_MS = 30_000;
const CUTS = isFull ? 3 : 1;
/** Fewer than the 150 lines per minute and address that a log takes. */
const EVERY_MS = 500;
/** Maximum pause of an undisturbed stream of one sample per second, on a busy machine. */
const MAX_PAUSE_MS = 3000;

interface Scene {
  readonly what: string;
  readonly cable: Cable;
  /** The machine `pc`, which the cut affects. */
  readonly agent: Part;
  readonly marks: Marks;
  readonly hub: Part;
  readonly viewer: Viewer;
  /** Streams that it does not concern. */
  readonly others: readonly Viewer[];
  readonly downReason: RegExp;
}

async function suffer(t: Test, scene: Scene): Promise<void> {
  const { what, cable, agent, marks, hub, viewer, others, downReason } = scene;
  const commander = new Commander(t, 'pc', [hub.port], EVERY_MS);
  const recovery = new Recovery(what);
  for (let cut = 1; cut <= CUTS; cut++) {
    await sleep(3000);
    const [before, cutAtMs] = [viewer.states().length, performance.now()];
    cable.cut();
    const { reason } = await stateOf(hub.port, 'pc', ({ state }) => state === 'down');
    t.match(reason, downReason, `cut ${cut}: shown as down`);
    t.comment(`${what} ${cut}: down after ${((performance.now() - cutAtMs) / 1000).toFixed(1)} s: ${reason}`);
    await sleep(Math.max(0, CUT_MS - (performance.now() - cutAtMs)));
    t.ok((await stateOf(hub.port, 'pc', () => true)).state === 'down', `cut ${cut}: and so it stays`);
    cable.mend();
    await recovery.take(t, [viewer], performance.now());
    await stateOf(hub.port, 'pc', ({ state }) => state === 'up');
    t.same([...new Set(viewer.states(before))], ['down', 'up'], `cut ${cut}: on the socket`);
    for (const other of others) {
      const pauseMs = longestPause(other, cutAtMs);
      t.ok(pauseMs < MAX_PAUSE_MS, `cut ${cut}: another stream pauses for ${pauseMs.toFixed(0)} ms at most`);
    }
  }
  t.notOk(viewer.stream.isEnded || viewer.stream.connection.isClosed, 'the stream has not ended');
  for (const other of others) t.same(other.states(), ['up'], 'others have seen no other state');
  await commander.stop();
  recovery.report(t);
  await judge(t, what, commander.sent, marks, { agent: agent.log, hubs: hub.log });
}

for (const { name, skip, start } of BROKERS) {
  const options = { skip: skip || NO_CABLE };
  t.test(`[I.hub.faults.cut] an agent is cut from ${name}`, options, async (t) => {
    const cable = layCable(t);
    const broker = await start(t, { host: cable.address, start: spawn });
    const { part: agent, marks } = await startAgent(t, 'pc', broker.url, {
      start: cable.start,
      host: cable.far,
    });
    await startAgent(t, 'near', broker.url);
    const hub = await startBrokerHub(t, broker.url, 'hub1');
    await suffer(t, {
      what: `an agent cut from ${name}`,
      cable,
      agent,
      marks,
      hub,
      downReason: /silent|offline/,
      viewer: await Viewer.open(t, hub.port, 'pc'),
      others: [await Viewer.open(t, hub.port, 'near')],
    });
  });

  t.test(`[I.hub.faults.cut] a hub is cut from ${name}`, options, async (t) => {
    const cable = layCable(t);
    const broker = await start(t, { host: cable.far, start: cable.start });
    const { part: agent, marks } = await startAgent(t, 'pc', broker.url, {
      start: cable.start,
      host: cable.far,
    });
    const hub = await startBrokerHub(t, broker.url, 'hub1');
    await suffer(t, {
      what: `a hub cut from ${name}`,
      cable,
      agent,
      marks,
      hub,
      downReason: /silent|broker/,
      viewer: await Viewer.open(t, hub.port, 'pc'),
      others: [],
    });
  });
}

t.test('[I.hub.faults.cut] an agent is cut from a hub that connects to it', { skip: NO_CABLE }, async (t) => {
  const cable = layCable(t);
  const { part: agent, marks } = await startAgent(t, 'pc', undefined, {
    start: cable.start,
    host: cable.far,
  });
  const { part: near } = await startAgent(t, 'near', undefined);
  const hub = await startConnectingHub(t, {
    pc: `http://${cable.far}:${agent.port}`,
    near: `http://127.0.0.1:${near.port}`,
  });
  await suffer(t, {
    what: 'an agent cut from the hub that connects to it',
    cable,
    agent,
    marks,
    hub,
    downReason: /silent|answer/,
    viewer: await Viewer.open(t, hub.port, 'pc'),
    others: [await Viewer.open(t, hub.port, 'near')],
  });
});
