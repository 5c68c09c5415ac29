/** The table of honest loads against the real service with the limits that it ships: nothing is refused. */
import '../helpers/service/dead-buses.ts';
import process from 'node:process';
import t from 'tap';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { AS_SHIPPED, serveProgram } from '../helpers/service/service.ts';
import { playHonestLoads, TRUSTED } from './honest-loads.ts';

const FOR_MS = process.env['HOSTWIRE_FULL'] === '1' ? 300_000 : 8000;

// More than the load: nothing in it depends on being in time.
t.setTimeout(FOR_MS + 2 * PATIENCE_MS);

t.test('all honest loads together: nothing is refused, and no event is missing', async (t) => {
  const config = { ...AS_SHIPPED, server: { ...AS_SHIPPED.server, trusted_proxies: [TRUSTED] } };
  const service = await serveProgram(t, { config });
  const accounts = await playHonestLoads(service, FOR_MS);
  for (const [who, { answered, events, faults }] of accounts) {
    t.strictSame(faults, {}, `${who}: ${answered} answers, ${events} events`);
  }
});
