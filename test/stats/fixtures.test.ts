/** Captured machines, compared with their golden samples. */
import t from 'tap';
import { isNvmlMachine, machineNames } from '../helpers/machine/fixtures.ts';
import { checkMachine, LIMIT_MS } from './golden.ts';

t.setTimeout(LIMIT_MS);

const names = machineNames();

for (const name of names.filter((each) => !isNvmlMachine(each)))
  t.test(`[3.units] [3.detail] [3.disks-which] [3.memory-zfs] machine ${name}`, async (t) => {
    await checkMachine(t, name);
  });

t.test('every machine has its golden samples', async (t) => {
  t.ok(names.length >= 23);
});
