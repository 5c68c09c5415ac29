/** Two hubs without a broker: a thousand agents, ten thousand viewers, ten minutes. See shown.ts. */
import t from 'tap';
import { showTwoHubs } from './shown.ts';

t.setTimeout(1_800_000);

t.test('[I.hub.two-hubs] without a broker no event is lost', async (t) => {
  await showTwoHubs(t, 'connected');
});
