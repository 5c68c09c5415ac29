/** Two hubs with and without a broker: a thousand agents, ten thousand viewers, ten minutes each. See shown.ts. */
import t from 'tap';
import { NO_BROKER, NO_NATS } from '../../exporters/mqtt/broker.ts';
import { showTwoHubs } from './shown.ts';

t.setTimeout(5_400_000);

for (const { how, skip } of [
  { how: 'connected', skip: false },
  { how: 'mosquitto', skip: NO_BROKER },
  { how: 'nats-server', skip: NO_NATS },
] as const)
  t.test(
    `[I.hub.two-hubs] [I.hub.load] ${how}: no event is lost`,
    { skip, timeout: 1_800_000 },
    async (t) => {
      await showTwoHubs(t, how);
    },
  );
