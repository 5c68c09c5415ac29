/** The siege of test/prove/siege.test.ts for 7 minutes, without the form under sanitizers. */
import t from 'tap';
import { printTable, runSieges, SECONDS, summariesOf } from '../../siege/run.ts';
import { KEYED, OPEN } from '../../siege/service.ts';

/** Each attack runs at least once in the first form. */
const FULL_SECONDS = 420;

t.setTimeout(1_500_000);
const forms = [
  { ...OPEN, share: 0.75 },
  { ...KEYED, share: 0.25 },
];
printTable(t, summariesOf(await runSieges(t, forms, Number.isNaN(SECONDS) ? FULL_SECONDS : SECONDS)));
