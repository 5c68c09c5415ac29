/** Agents that are killed, stopped for 30 s, and whose clock is set by an hour, or jumps as that of their hub does: on each way to a hub. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { emptyFolder } from '../../../helpers/scope.ts';
import { isFull } from './parts.ts';
import { BURST, KILLS, MAX_PAUSE_MS, Scene, stopAndGo } from './scene.ts';
import { longestPause } from './viewers.ts';
import { WAYS } from './ways.ts';

t.setTimeout(1_800_000);

const HOUR = 3600;
/** The offset of each end's clock, in opposite directions: the two are ten minutes apart. */
const MINUTES = 300;
const JUMPS = isFull ? 60 : 4;

for (const { name, skip, start } of WAYS) {
  t.test(`[I.hub.faults.agent] an agent ${name} is killed ${KILLS} times`, { skip }, async (t) => {
    const scene = await Scene.set(t, { what: `an agent ${name} killed`, ...(await start(t)) });
    const { agent, commander, viewer } = scene;
    for (let kill = 1; kill <= KILLS; kill++) {
      await sleep(1000);
      commander.burst(BURST);
      // Some are on their way, some are done.
      await sleep(4 * (kill % 8));
      const before = viewer.states().length;
      const killedAtMs = performance.now();
      await agent.kill();
      await scene.shown('down');
      t.comment(`down after ${(performance.now() - killedAtMs).toFixed(0)} ms`);
      await agent.start(t);
      await scene.recovered();
      // The reason may change before it is up: the connection was reset, then the port is closed.
      t.match(viewer.states(before).join(' '), /^(?:down )+up$/, `kill ${kill}: on the socket`);
    }
    await scene.end();
  });

  t.test(`[I.hub.faults.stopped] an agent ${name} is stopped for 30 s`, { skip }, async (t) => {
    const scene = await Scene.set(t, { what: `an agent ${name} stopped`, ...(await start(t)) });
    // Its reason may change before it is up: it was silent, then a new session was not answered.
    await stopAndGo(t, scene, scene.agent, /^(?:down,)+up$/);
    await scene.end();
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
    const what = `the clock of an agent ${name} set by an hour`;
    const scene = await Scene.set(t, { what, ...(await start(t, { env: clock.env })) });
    const { viewer, recovery } = scene;
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
    await scene.shown('up');
    await scene.end();
  });

  t.test(`[I.hub.faults.clock] all clocks of an agent ${name} are an hour ahead`, options, async (t) => {
    const what = `all clocks of an agent ${name} an hour ahead`;
    const scene = await Scene.set(t, { what, ...(await start(t, { env: fakeClock(t, false, HOUR).env })) });
    const { viewer } = scene;
    await sleep(5000);
    const skew = viewer.newest - Date.now() / 1000;
    t.ok(Math.abs(skew - HOUR) < 30, `its samples are ${skew.toFixed(0)} s ahead`);
    t.same(viewer.states(), ['up']);
    await scene.shown('up');
    await scene.end();
  });
  t.test(`[I.hub.faults.clock] the clocks of an agent ${name} and its hub jump apart`, options, async (t) => {
    const [there, here] = [fakeClock(t, true, MINUTES), fakeClock(t, true, -MINUTES)];
    const started = await start(t, { env: there.env, hubEnv: here.env });
    const what = `the clocks of an agent ${name} and its hub ten minutes apart, jumping ${JUMPS} times`;
    const scene = await Scene.set(t, { what, ...started });
    for (let jump = 1; jump <= JUMPS; jump++) {
      scene.commander.burst(BURST);
      await sleep(4 * (jump % 8));
      const seconds = jump % 2 === 0 ? MINUTES : -MINUTES;
      here.set(-seconds);
      there.set(seconds);
      await sleep(1000);
    }
    t.same(scene.viewer.states(), ['up'], 'its state is up all the time');
    await scene.end();
  });
}
