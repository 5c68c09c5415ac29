/** The siege of 20 minutes: without authentication, with it, and under sanitizers. Prints the worst of each attack. */
import t from 'tap';
import { proveSieges } from '../siege/run.ts';
import { KEYED, OPEN, SANITIZED } from '../siege/service.ts';

t.setTimeout(3_600_000);
await proveSieges(t, [OPEN, KEYED, SANITIZED], 1200);
