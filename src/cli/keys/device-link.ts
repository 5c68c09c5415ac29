/** Where a device reaches the service: the address of its link, and further ones. */
import os from 'node:os';
import { isLoopback } from '../../access/exposure.ts';
import type { Config } from '../../config/config.ts';
import { fromUrl, inUrl } from '../../url-host.ts';

type Listening = Pick<Config, 'server' | 'discovery'>;

/** Addresses of this machine that another device may reach. */
function reachable(hostname: string, hasMdns: boolean): readonly string[] {
  const all = Object.values(os.networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const outside = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  const [v4, v6] = ['IPv4', 'IPv6'].map((family) =>
    outside.filter((each) => each.family === family).map(({ address }) => address),
  );
  return [...(v4 ?? []), ...(hasMdns ? [`${hostname}.local`] : []), ...(v6 ?? [])];
}

export interface DeviceLink {
  readonly url: string;
  /** Further addresses, without the key. */
  readonly others: readonly string[];
}

const isSecure = ({ tls }: Config['server']) => tls.cert !== undefined;
const portOf = (server: Config['server']) =>
  isSecure(server) ? (server.tls.port ?? server.port) : server.port;

/** `given`: the address of `--url`. */
export function linkTo({ server, discovery }: Listening, given: string | undefined): DeviceLink {
  if (given !== undefined) return { url: given.replace(/(?<!\/)\/*$/, '/'), others: [] };
  const scheme = isSecure(server) ? 'https' : 'http';
  const origin = (host: string) => `${scheme}://${inUrl(host)}:${portOf(server)}/`;
  const isEverywhere = ['::', '0.0.0.0'].includes(server.host);
  const [first = 'localhost', ...others] = isEverywhere
    ? reachable(os.hostname().split('.', 1)[0] ?? '', discovery.mdns)
    : [server.host];
  return { url: origin(first), others: others.map(origin) };
}

/** Returns whether an address is the service's own, seen from another device; with another port it is that of a proxy. */
export function isDirect(given: string, server: Config['server']): boolean {
  const { protocol, hostname, port } = new URL(given);
  if (isLoopback(fromUrl(hostname))) return false;
  const isTls = protocol === 'https:';
  return isTls === isSecure(server) && Number(port === '' ? (isTls ? 443 : 80) : port) === portOf(server);
}
