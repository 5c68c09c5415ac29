/** The matrix over real sockets of IPv4. */
import t, { type Test } from 'tap';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';
import { MACHINE_NAMES } from './setup.ts';
import { checkRequests, checkUpgrades, type Family } from './socket-matrix.ts';

const IPV4: Family = { name: 'IPv4', listensOn: '127.0.0.1', peers: ['127.0.0.1', '127.0.0.9'], seed: 4 };
const OPTIONS = { timeout: 240_000 };

async function serve(t: Test, { listensOn }: Family) {
  return await serveHere(t, fixtureHost(), {}, { listensOn, machineNames: MACHINE_NAMES });
}

t.setTimeout(280_000);

t.test('[1.matrix-sockets] IPv4 peers get the answers that the oracle expects', OPTIONS, async (t) => {
  await checkRequests(t, await serve(t, IPV4), IPV4);
});

t.test('[1.matrix-sockets] [I.auth.ws] the same through upgrades: IPv4 peers', OPTIONS, async (t) => {
  await checkUpgrades(t, await serve(t, IPV4), IPV4);
});
