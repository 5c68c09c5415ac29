/** Streams on their way from the engine to the native writer, over IPv6. */
import os from 'node:os';
import t from 'tap';
import { churn } from '../stream-churn.ts';

const hasIpv6 = Object.values(os.networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

t.setTimeout(900_000);

t.test(
  '[4.bytes] churn over IPv6: every stream is that of its client, whole, and nothing is left',
  { skip: !hasIpv6 && 'this machine has no ::1' },
  async (t) => await churn(t, '::1'),
);
