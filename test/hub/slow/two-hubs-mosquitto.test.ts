/** Two hubs behind mosquitto: a thousand agents, ten thousand viewers, ten minutes. See shown.ts. */
import t from 'tap';
import { NO_BROKER } from '../../exporters/mqtt/broker.ts';
import { showTwoHubs } from './shown.ts';

t.setTimeout(1_800_000);

t.test('[I.hub.two-hubs] behind mosquitto no event is lost', { skip: NO_BROKER }, async (t) => {
  await showTwoHubs(t, 'mosquitto');
});
