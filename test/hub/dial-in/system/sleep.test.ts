/** A machine that dials in says goodbye before a sleep that another program asks for: logind on a private bus. */
import t from 'tap';
import { missingForBus } from '../../../helpers/dbus/bus.ts';
import { Sleeper } from '../../../helpers/dbus/sleeper.ts';
import { serveProgram } from '../../../helpers/service/service.ts';
import { until } from '../../../helpers/until.ts';
import { isUp, startHub } from '../../setup.ts';
import { dialled, keyFile, urlOf, type Written } from '../setup.ts';

t.setTimeout(280_000);

t.test(
  '[I.hub.dial.sleep] the hub knows of a sleep before it begins',
  { skip: missingForBus() },
  async (t) => {
    const sleeper = await Sleeper.start(t);
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
