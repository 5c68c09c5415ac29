/** Selects the services to announce on the network: one for each listener that is open to it. Pure. */
import { isIP } from 'node:net';
import type { Announcement } from '../../host/discovery.ts';

export interface AnnouncedAddress {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  /** Not reachable from the network. */
  readonly isLoopback: boolean;
}

export interface AnnouncementFacts {
  readonly hostname: string;
  readonly id: string;
  readonly version: string;
  readonly hasKey: boolean;
  readonly addresses: readonly AnnouncedAddress[];
  /** The addresses of this machine by interface, as os.networkInterfaces() has them. */
  readonly links: Readonly<Record<string, readonly { readonly address: string }[] | undefined>>;
}

/** The version of these texts. */
const TXTVERS = 1;
/** One label of DNS. */
const MAX_NAME_BYTES = 63;

/** None for an address on loopback. */
export function listAnnouncements(facts: AnnouncementFacts): readonly Announcement[] {
  const addresses = facts.addresses.filter(({ isLoopback }) => !isLoopback);
  return addresses.map(({ scheme, host, port }) => ({
    // Two services of one name on one host would be a collision.
    name: nameOf(facts.hostname, addresses.length > 1 && scheme === 'https' ? ' (https)' : ''),
    port,
    link: linkOf(host, facts.links),
    texts: [
      `txtvers=${TXTVERS}`,
      `id=${facts.id}`,
      `version=${facts.version}`,
      'path=/',
      `tls=${Number(scheme === 'https')}`,
      `auth=${Number(facts.hasKey)}`,
    ],
  }));
}

/** The first label of the host name, cut before the first character that does not fit. */
function nameOf(hostname: string, suffix: string): string {
  let name = '';
  for (const character of hostname.split('.', 1)[0] || 'hostwire') {
    if (Buffer.byteLength(name + character + suffix) > MAX_NAME_BYTES) break;
    name += character;
  }
  return name + suffix;
}

/** The interface that has the only address listened on; empty for every other host. */
function linkOf(host: string, links: AnnouncementFacts['links']): string {
  if (isIP(host) === 0) return '';
  const found = Object.entries(links).find(([, own]) => own?.some(({ address }) => address === host));
  return found?.[0] ?? '';
}
