/** The siege of test/prove/siege.test.ts for 5 minutes, without the form under sanitizers. */
import t from 'tap';
import { printTable, runSieges, SECONDS, summariesOf } from '../../siege/run.ts';
import { KEYED, OPEN } from '../../siege/service.ts';

const FULL_SECONDS = 300;

t.setTimeout(1_500_000);
const forms = [
  { ...OPEN, share: 0.75 },
  { ...KEYED, share: 0.25 },
];
printTable(t, summariesOf(await runSieges(t, forms, Number.isNaN(SECONDS) ? FULL_SECONDS : SECONDS)));
