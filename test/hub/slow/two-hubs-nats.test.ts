/** Two hubs behind nats-server: a thousand agents, ten thousand viewers, ten minutes. See shown.ts. */
import t from 'tap';
import { NO_NATS } from '../../exporters/mqtt/broker.ts';
import { showTwoHubs } from './shown.ts';

t.setTimeout(1_800_000);

t.test('[I.hub.two-hubs] behind nats-server no event is lost', { skip: NO_NATS }, async (t) => {
  await showTwoHubs(t, 'nats-server');
});
