/** Peers that send faster than their bytes are worked off: the service asks for a small receive buffer. */
import t from 'tap';
import type { ListenerOptions } from '#src/host/listener.js';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { startHere } from '../helpers/service/service.ts';

t.test('[7.fast-peers] the receive buffer that connections inherit is asked for', async (t) => {
  const tuned: ListenerOptions[] = [];
  const service = await startHere({
    ...fixtureHost(),
    tuneListener: (_port, options) => tuned.push(options),
  });
  await service.stop();
  // The kernel takes twice the number, socket(7).
  t.match(tuned, [{ receiveBufferBytes: 32 * 1024 }]);
});
