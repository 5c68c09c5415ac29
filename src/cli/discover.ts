/** `hostwire discover`: lists services that announce themselves on the network. */
import { isIP } from 'node:net';
import { isLoopback } from '../access/exposure.ts';
import { clean } from '../clean.ts';
import type { DiscoveryHost, FoundService } from '../host/discovery.ts';
import { jsonText, type Output, tableOf } from './output.ts';

/** A service as it describes itself; null: not announced. */
export interface Listed {
  readonly name: string;
  readonly host: string;
  /** Best first. */
  readonly addresses: readonly string[];
  readonly port: number;
  readonly version: string | null;
  readonly id: string | null;
  readonly path: string | null;
  readonly tls: boolean | null;
  /** Whether it requires a key. */
  readonly auth: boolean | null;
}

/** Any host on the network may have sent these texts; longer ones are cut. */
const MAX_NAME = 63;
const MAX_HOST = 255;
const MAX_TEXT = 64;
const MAX_ADDRESSES = 16;

/** Rejects with the reason if no responder can be asked. */
export async function discover(
  host: Pick<DiscoveryHost, 'browse'>,
  { isJson, seconds }: { readonly isJson: boolean; readonly seconds: number },
): Promise<Output> {
  const listed = listServices(await host.browse(seconds * 1000));
  const text = isJson
    ? jsonText(listed)
    : printServices(listed, `no hostwire service answered within ${seconds} s\n`);
  return { text, exitCode: 0 };
}

/** Returns one entry per service, whatever the number of its addresses, sorted by name. Pure. */
export function listServices(found: readonly FoundService[]): readonly Listed[] {
  const services = new Map<string, { readonly first: FoundService; readonly addresses: Set<string> }>();
  for (const each of found) {
    const key = JSON.stringify([each.name, each.host, each.port]);
    const service = services.get(key) ?? { first: each, addresses: new Set() };
    services.set(key, service);
    const address = addressOf(each);
    if (address !== undefined && service.addresses.size < MAX_ADDRESSES) service.addresses.add(address);
  }
  return [...services.values()]
    .filter(({ first, addresses }) => first.port > 0 && addresses.size > 0)
    .map(({ first, addresses }) => ({
      name: clean(first.name, MAX_NAME),
      host: clean(first.host, MAX_HOST),
      addresses: [...addresses].sort((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1)),
      port: first.port,
      ...readTexts(first.texts),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.port - b.port));
}

const isLinkLocal = (address: string) => /^fe[89ab]/iu.test(address);

/** Returns the address to show: a link-local address is usable only with its interface. */
function addressOf({ address, link }: FoundService): string | undefined {
  if (isIP(address) === 0 || address.includes('%')) return undefined;
  return isLinkLocal(address) && link !== '' ? `${address}%${clean(link, MAX_TEXT)}` : address;
}

/** Returns its rank: this machine's own services are also found on its loopback. */
function rankOf(address: string): number {
  if (isLoopback(address)) return 3;
  if (!address.includes(':')) return 0;
  return isLinkLocal(address) ? 2 : 1;
}

/** RFC 6763, 6.4: keys in any case, and the first of two counts. */
function readTexts(texts: readonly string[]): Pick<Listed, 'version' | 'id' | 'path' | 'tls' | 'auth'> {
  const values = new Map<string, string>();
  for (const text of texts) {
    const [, key, value] = /^([^=]+)=(.*)$/su.exec(text) ?? [];
    if (key === undefined || value === undefined || values.has(key.toLowerCase())) continue;
    values.set(key.toLowerCase(), clean(value, MAX_TEXT));
  }
  const flag = (key: string) => {
    const value = values.get(key);
    return value === '1' ? true : value === '0' ? false : null;
  };
  const textOf = (key: string) => values.get(key) ?? null;
  return {
    version: textOf('version'),
    id: textOf('id'),
    path: textOf('path'),
    tls: flag('tls'),
    auth: flag('auth'),
  };
}

const yesOrNo = (value: boolean | null) => (value === null ? '-' : value ? 'yes' : 'no');

/** Pure. */
function printServices(listed: readonly Listed[], none: string): string {
  if (listed.length === 0) return none;
  return tableOf([
    ['name', 'address', 'port', 'version', 'tls', 'key', 'id'],
    ...listed.map(({ name, addresses, port, version, id, tls, auth }) => [
      name,
      addresses[0] ?? '-',
      String(port),
      version ?? '-',
      yesOrNo(tls),
      yesOrNo(auth),
      id ?? '-',
    ]),
  ]);
}
