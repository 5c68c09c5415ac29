/** Streams on their way from the engine to the native writer, over IPv6. */
import t from 'tap';
import { reasonAgainstIpv6 } from '../../helpers/machine/ipv6.ts';
import { repetitions } from '../../helpers/random.ts';
import { CHURN_SEED, churn } from '../stream-churn.ts';

t.setTimeout(900_000);

t.test(
  '[4.bytes] churn over IPv6: every stream is that of its client, whole, and nothing is left',
  { skip: reasonAgainstIpv6 },
  async (t) => await churn(t, repetitions(t, 50_000, CHURN_SEED), '::1'),
);
