/** Agents that are killed, stopped for 20 s, and whose clock is set by an hour: behind a broker, and with a hub that connects to them. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { BROKERS } from '../../../agent/reporter/rig.ts';
import { emptyFolder } from '../../../helpers/scope.ts';
import { Commander, judge, type Marks } from './commands.ts';
import { isFull, type Part, startAgent, startBrokerHub, startConnectingHub } from './parts.ts';
import { longestPause, Recovery, stateOf, Viewer } from './viewers.ts';

t.setTimeout(1_800_000);

const KILLS = isFull ? 10 : 2;
const STOPS = isFull ? 3 : 1;
const STOP_MS = 20_000;
/** With the bursts fewer than the 150 lines per minute and address that a log takes. */
const EVERY_MS = 600;
const HOUR = 3600;
/** Maximum pause of an undisturbed stream of one sample per second, on a busy machine. */
const MAX_PAUSE_MS = 3000;

interface Scene {
  readonly agent: Part;
  readonly marks: Marks;
  readonly hub: Part;
  readonly viewer: Viewer;
  readonly commander: Commander;
  /** Ends the commands and judges them. */
  readonly end: (what: string) => Promise<void>;
}

type Start = (t: Test, env?: Readonly<Record<string, string>>) => Promise<Scene>;

async function sceneOf(t: Test, agent: Part, marks: Marks, hub: Part): Promise<Scene> {
  const viewer = await Viewer.open(t, hub.port, 'pc');
  const commander = new Commander(t, 'pc', [hub.port], EVERY_MS);
  const end = async (what: string) => {
    await commander.stop();
    t.notOk(viewer.stream.isEnded || viewer.stream.connection.isClosed, 'the stream has not ended');
    await judge(t, what, commander.sent, marks, { agent: agent.log, hubs: hub.log });
  };
  return { agent, marks, hub, viewer, commander, end };
}

const behind =
  (start: (typeof BROKERS)[number]['start']): Start =>
  async (t, env) => {
    const broker = await start(t);
    const { part, marks } = await startAgent(t, 'pc', broker.url, {}, env);
    return await sceneOf(t, part, marks, await startBrokerHub(t, broker.url, 'hub1'));
  };

const connected: Start = async (t, env) => {
  const { part, marks } = await startAgent(t, 'pc', undefined, {}, env);
  return await sceneOf(t, part, marks, await startConnectingHub(t, { pc: `http://127.0.0.1:${part.port}` }));
};

const WAYS: readonly { readonly name: string; readonly skip: string | boolean; readonly start: Start }[] = [
  ...BROKERS.map(({ name, skip, start }) => ({ name: `behind ${name}`, skip, start: behind(start) })),
  { name: 'to which a hub connects', skip: false, start: connected },
];

for (const { name, skip, start } of WAYS) {
  t.test(`[I.hub.faults.agent] an agent ${name} is killed ${KILLS} times`, { skip }, async (t) => {
    const { agent, hub, viewer, commander, end } = await start(t);
    const recovery = new Recovery(`an agent ${name} killed`);
    for (let kill = 1; kill <= KILLS; kill++) {
      await sleep(1000);
      commander.burst(2);
      const before = viewer.states().length;
      const killedAtMs = performance.now();
      await agent.kill();
      await stateOf(hub.port, 'pc', ({ state }) => state === 'down');
      t.comment(`down after ${(performance.now() - killedAtMs).toFixed(0)} ms`);
      await agent.start(t);
      await recovery.take(t, [viewer], performance.now());
      await stateOf(hub.port, 'pc', ({ state }) => state === 'up');
      // The reason may change before it is up: the connection was reset, then the port is closed.
      t.match(viewer.states(before).join(' '), /^(?:down )+up$/, `kill ${kill}: on the socket`);
    }
    recovery.report(t);
    await end(`an agent ${name} killed`);
  });

  t.test(`[I.hub.faults.stopped] an agent ${name} is stopped for 20 s`, { skip }, async (t) => {
    const { agent, hub, viewer, end } = await start(t);
    const recovery = new Recovery(`an agent ${name} stopped`);
    for (let stop = 1; stop <= STOPS; stop++) {
      await sleep(2000);
      const before = viewer.states().length;
      const stoppedAtMs = performance.now();
      agent.signal('SIGSTOP');
      await sleep(STOP_MS - 1000);
      const { state } = await stateOf(hub.port, 'pc', () => true);
      t.comment(`stop ${stop}: ${state} after 19 s, since ${viewer.states(before).join(', ')}`);
      await sleep(STOP_MS - (performance.now() - stoppedAtMs));
      agent.signal('SIGCONT');
      await recovery.take(t, [viewer], performance.now());
      await stateOf(hub.port, 'pc', (row) => row.state === 'up');
      // An agent to which a hub connects is given up at the moment at which it continues.
      const seen = viewer.states(before).join(', ');
      t.match(
        seen,
        name === 'to which a hub connects' ? /^(?:|down, up)$/ : /^down, up$/,
        `stop ${stop}: on the socket`,
      );
    }
    recovery.report(t);
    await end(`an agent ${name} stopped`);
  });
}

const LIBRARIES = '/usr/lib';
const findLibrary = (): string | undefined => {
  const folders = existsSync(LIBRARIES)
    ? readdirSync(LIBRARIES).map((each) => path.join(LIBRARIES, each))
    : [];
  return folders
    .map((each) => path.join(each, 'faketime/libfaketimeMT.so.1'))
    .find((file) => existsSync(file));
};
const FAKETIME = findLibrary();

/** Its wall clock is what `set` says; its other clocks are real, or ahead with it. */
function fakeClock(t: Test, isMonotonicReal: boolean, startSeconds = 0) {
  const folder = emptyFolder(t, 'clock');
  const file = path.join(folder, 'offset');
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  set(startSeconds);
  const env = {
    LD_PRELOAD: FAKETIME ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: isMonotonicReal ? '1' : '0',
  };
  return { env, set };
}

const NO_FAKETIME = FAKETIME === undefined && 'libfaketime is not installed (scripts/needs.mjs)';

for (const { name, skip, start } of WAYS) {
  const options = { skip: skip || NO_FAKETIME };
  t.test(`[I.hub.faults.clock] the clock of an agent ${name} is set by an hour`, options, async (t) => {
    const clock = fakeClock(t, true);
    const { hub, viewer, end } = await start(t, clock.env);
    const recovery = new Recovery(`the clock of an agent ${name} set by an hour`);
    await sleep(2000);
    const beganAtMs = performance.now();
    for (const offset of [HOUR, -HOUR, 0]) {
      clock.set(offset);
      await sleep(100);
      await recovery.take(t, [viewer], performance.now(), { skewSeconds: offset });
      const skew = viewer.newest - Date.now() / 1000;
      t.ok(Math.abs(skew - offset) < 30, `its samples are ${skew.toFixed(0)} s ahead`);
      await sleep(4000);
    }
    t.ok(longestPause(viewer, beganAtMs) < MAX_PAUSE_MS, 'the stream goes on all the time');
    t.same(viewer.states(), ['up'], 'and its state is up');
    t.equal((await stateOf(hub.port, 'pc', () => true)).state, 'up');
    recovery.report(t);
    await end(`the clock of an agent ${name} set by an hour`);
  });

  t.test(`[I.hub.faults.clock] all clocks of an agent ${name} are an hour ahead`, options, async (t) => {
    const { hub, viewer, end } = await start(t, fakeClock(t, false, HOUR).env);
    await sleep(5000);
    const skew = viewer.newest - Date.now() / 1000;
    t.ok(Math.abs(skew - HOUR) < 30, `its samples are ${skew.toFixed(0)} s ahead`);
    t.same(viewer.states(), ['up']);
    t.equal((await stateOf(hub.port, 'pc', () => true)).state, 'up');
    await end(`all clocks of an agent ${name} an hour ahead`);
  });
}
