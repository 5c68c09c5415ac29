/** A broker that is killed under load, three times; slow/deaths.test.ts has fifty. And a service that is killed. */
import t from 'tap';
import { startService } from '../../../helpers/service/service.ts';
import {
  AVAILABILITY,
  BASE,
  commandTopic,
  FEEDBACK,
  mqttPart,
  NO_BROKER,
  startBroker,
  Witness,
} from '../broker.ts';
import { sufferDeaths } from '../deaths.ts';

t.test('[3.mqtt-deaths] no command is done twice or late', { skip: NO_BROKER }, async (t) => {
  await sufferDeaths(t, 3, 1);
});

t.test('[3.mqtt-will] a crash is reported by the last will', { skip: NO_BROKER }, async (t) => {
  const broker = await startBroker(t);
  const witness = await Witness.open(t, broker.url);
  const { url, interval_seconds } = mqttPart(broker.url);
  // Only what a file has: absent keys are absent.
  const service = await startService({ config: { host: { id: 'pc' }, mqtt: { url, interval_seconds } } });
  await witness.waitFor(`${BASE}/state`, /./);
  await witness.say(commandTopic('media.set_volume'), '{"value": 101}');
  // The program has the exporter in a bundle of its own, which must know the errors of the service.
  await witness.waitFor(FEEDBACK, /"code":"invalid_value"/);
  await service.stop('SIGKILL');
  await witness.waitFor(AVAILABILITY, 'offline');
  t.same(witness.on(AVAILABILITY), ['online', 'offline']);
});
