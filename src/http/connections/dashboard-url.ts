/** The address of the dashboard, for other systems that link to it. */
import { isLoopback } from '../../access/exposure.ts';
import type { Config } from '../../config/config.ts';
import { inUrl } from '../../url-host.ts';
import type { Bound } from './listening.ts';

/** Returns the address in the network; undefined where the dashboard is off, or for this machine only. */
export function dashboardUrl(
  { features }: Pick<Config, 'features'>,
  addresses: readonly Bound[],
  hostname: string,
): string | undefined {
  const address = addresses.find(({ scheme }) => scheme === 'https') ?? addresses[0];
  if (address === undefined || !features.enable_dashboard) return undefined;
  const { scheme, host, port } = address;
  if (isLoopback(host)) return undefined;
  const isAny = host === '::' || host === '0.0.0.0';
  return `${scheme}://${isAny ? hostname : inUrl(host)}:${port}`;
}
