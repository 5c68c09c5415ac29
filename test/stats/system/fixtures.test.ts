/** Captured machines with NVIDIA GPUs, compared with their golden samples: they need a library that plays NVML. */
import t from 'tap';
import { isNvmlMachine, machineNames, whyNoFixture } from '../../helpers/machine/fixtures.ts';
import { checkMachine, LIMIT_MS } from '../golden.ts';

t.setTimeout(LIMIT_MS);

for (const name of machineNames().filter(isNvmlMachine))
  t.test(`[3.units] [3.detail] machine ${name}`, { skip: whyNoFixture(name) }, async (t) => {
    await checkMachine(t, name);
  });
