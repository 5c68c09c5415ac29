/** The siege of test/prove/siege.test.ts for 7 minutes, without the form under sanitizers. */
import t from 'tap';
import { proveSieges } from '../../siege/run.ts';
import { KEYED, OPEN } from '../../siege/service.ts';

t.setTimeout(1_500_000);
const forms = [
  { ...OPEN, share: 0.75 },
  { ...KEYED, share: 0.25 },
];
// Each attack runs at least once in the first form.
await proveSieges(t, forms, 420);
