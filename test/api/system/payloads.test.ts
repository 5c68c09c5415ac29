/** Payloads of a machine whose GPU is read through a library. */
import t from 'tap';
import { whyNoFixture } from '../../helpers/machine/fixtures.ts';
import { checkMachine } from '../machine-payloads.ts';

const NAME = 'gpu-hybrid';

t.test(`[3.schemas] machine ${NAME}`, { skip: whyNoFixture(NAME) }, async (t) => {
  await checkMachine(t, NAME);
});
