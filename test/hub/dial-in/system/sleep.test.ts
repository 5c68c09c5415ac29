/** A machine that dials in says goodbye before what another program asks for: logind on a private bus. */
import t, { type Test } from 'tap';
import { type LogindOptions, missingForBus } from '../../../helpers/dbus/bus.ts';
import { Sleeper } from '../../../helpers/dbus/sleeper.ts';
import { serveProgram } from '../../../helpers/service/service.ts';
import { until } from '../../../helpers/until.ts';
import { isUp, startHub } from '../../setup.ts';
import { dialled, keyFile, urlOf, type Written } from '../setup.ts';

t.setTimeout(280_000);

async function start(t: Test, ...logind: [sleepSeconds?: number, options?: LogindOptions]) {
  const sleeper = await Sleeper.start(t, ...logind);
  const hub = await startHub(t, { pc: dialled() });
  const agent = await serveProgram(t, {
    config: {
      power: { backend: 'system' },
      host: { id: 'pc' },
      // A file names a file where a configuration has its content.
      hub: { url: urlOf(hub), key_file: keyFile(t) } as unknown as Written,
    },
    env: { DBUS_SYSTEM_BUS_ADDRESS: sleeper.bus.address },
  });
  await hub.host('pc', isUp);
  await sleeper.waitFor('inhibit', 1);
  return { sleeper, hub, agent };
}

t.test(
  '[I.hub.dial.sleep] the hub knows of a sleep before it begins',
  { skip: missingForBus() },
  async (t) => {
    const { sleeper, hub, agent } = await start(t);
    const sleeps = () => hub.log.filter((line) => /host pc is asleep/.test(line)).length;
    t.equal(sleeps(), 0);
    await sleeper.suspend();
    await sleeper.waitFor('awake', 1);
    t.same(
      sleeper.events.slice(0, 5).map(({ event }) => event),
      ['inhibit', 'prepare', 'released', 'asleep', 'awake'],
    );
    await until(() => sleeps() === 1);
    await hub.host('pc', isUp);
    await sleeper.waitFor('inhibit', 2);
    t.notMatch(agent.stderr(), /lost connection|cannot delay/);
  },
);

const SHUTDOWNS = [
  { method: 'PowerOff', typed: false, reason: 'it was shut down' },
  { method: 'Reboot', typed: true, reason: 'it restarts' },
  // Before systemd 255 a restart is not told from a shutdown.
  { method: 'Reboot', typed: false, reason: 'it was shut down' },
] as const;

for (const { method, typed, reason } of SHUTDOWNS)
  t.test(
    `[I.hub.dial.shutdown] ${method}${typed ? ' with its type' : ''}: off, which the hub knows before it begins`,
    { skip: missingForBus() },
    async (t) => {
      const { sleeper, hub, agent } = await start(t, 3600, { typed });
      await sleeper.act(method);
      await sleeper.waitFor('off', 1);
      t.same(
        sleeper.events.map(({ event }) => event),
        ['inhibit', 'prepare', 'released', 'off'],
      );
      await agent.stop();
      t.match(await hub.host('pc', ({ state }) => state !== 'up'), { state: 'off', reason });
      t.notMatch(hub.log.join('\n'), /host pc is down/);
    },
  );

t.test(
  '[I.hub.dial.shutdown] a shutdown that is cancelled: the machine is up, and the next one waits again',
  { skip: missingForBus() },
  async (t) => {
    const { sleeper, hub, agent } = await start(t, 0.2, { typed: true });
    await sleeper.act('PowerOff');
    await sleeper.waitFor('inhibit', 2);
    await hub.host('pc', isUp);
    t.match(agent.stderr(), /the machine continues: the shutdown was cancelled/);
    await sleeper.act('PowerOff');
    await sleeper.waitFor('released', 2);
  },
);
