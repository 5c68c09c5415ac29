/** Besieges a hub with 50 machines for 20 minutes, and prints the worst of each attack. */
import t from 'tap';
import { proveSieges } from '../siege/run.ts';
import { HUB } from '../siege/service.ts';

t.setTimeout(3_600_000);
await proveSieges(t, [HUB], 1200);
