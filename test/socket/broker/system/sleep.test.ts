/** A machine at a broker says goodbye before a sleep that another program asks for: logind on a private bus. */
import t from 'tap';
import { NO_BROKER, startBroker } from '../../../exporters/mqtt/broker.ts';
import { missingForBus } from '../../../helpers/dbus/bus.ts';
import { Sleeper } from '../../../helpers/dbus/sleeper.ts';
import { serveProgram } from '../../../helpers/service/service.ts';
import { until } from '../../../helpers/until.ts';
import { startBrokerHub } from '../../../hub/broker/setup.ts';
import { isUp } from '../../../hub/setup.ts';

t.setTimeout(280_000);

const skip = NO_BROKER || missingForBus();

t.test('[I.hub.mqtt.sleep] the hub knows of a sleep before it begins', { skip }, async (t) => {
  const broker = await startBroker(t);
  const sleeper = await Sleeper.start(t);
  const hub = await startBrokerHub(t, broker.url);
  const service = await serveProgram(t, {
    config: { power: { backend: 'system' }, host: { id: 'pc' }, mqtt: { url: broker.url, publish: 'hub' } },
    env: { DBUS_SYSTEM_BUS_ADDRESS: sleeper.bus.address },
  });
  await hub.host('pc', isUp);
  await sleeper.waitFor('inhibit', 1);
  await sleeper.suspend();
  await sleeper.waitFor('awake', 1);
  t.same(
    sleeper.events.slice(0, 5).map(({ event }) => event),
    ['inhibit', 'prepare', 'released', 'asleep', 'awake'],
  );
  await until(() => hub.log.some((line) => /host pc is asleep: it sleeps/.test(line)));
  await hub.host('pc', isUp);
  t.notMatch(hub.log.join('\n'), /host pc is down/, 'and takes it for asleep all the time');
  await sleeper.waitFor('inhibit', 2);
  t.notMatch(service.stderr(), /lost connection|cannot delay/);
});
