/** The matrix over real sockets of IPv6, and of IPv4 where it is mapped. */
import os from 'node:os';
import t, { type Test } from 'tap';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { serveHere } from '../../helpers/service/service.ts';
import { MACHINE_NAMES } from '../setup.ts';
import { checkRequests, checkUpgrades, type Family } from '../socket-matrix.ts';

const FAMILIES: readonly Family[] = [
  { name: 'IPv4-mapped', listensOn: '::', peers: ['::ffff:127.0.0.1', '::ffff:127.0.0.9'], seed: 46 },
  { name: 'IPv6', listensOn: '::', peers: ['::1'], seed: 6 },
];
const hasIpv6 = Object.values(os.networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

const OPTIONS = { timeout: 240_000, skip: !hasIpv6 && 'this machine has no ::1' };

async function serve(t: Test, { listensOn }: Family) {
  return await serveHere(t, fixtureHost(), {}, { listensOn, machineNames: MACHINE_NAMES });
}

t.setTimeout(280_000);

for (const family of FAMILIES) {
  t.test(
    `[1.matrix-sockets] ${family.name} peers get the answers that the oracle expects`,
    OPTIONS,
    async (t) => {
      await checkRequests(t, await serve(t, family), family);
    },
  );
  t.test(
    `[1.matrix-sockets] [I.auth.ws] the same through upgrades: ${family.name} peers`,
    OPTIONS,
    async (t) => {
      await checkUpgrades(t, await serve(t, family), family);
    },
  );
}
