/** Whether this machine has IPv6. */
import os from 'node:os';

const hasIpv6 = Object.values(os.networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

/** The reason why a test over IPv6 is skipped; false if it is not. */
export const reasonAgainstIpv6 = !hasIpv6 && 'this machine has no ::1';
