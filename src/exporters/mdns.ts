/** Keeps the service announced on the network, as the configuration asks for it: each listener that is open to it. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isLoopback } from '../access/exposure.ts';
import type { Config } from '../config/config.ts';
import type { Announced, Announcement } from '../host/discovery.ts';
import type { Host } from '../host/host.ts';
import type { Bound } from '../http/connections/listening.ts';
import type { Log } from '../log/log.ts';

export interface AnnouncementFacts {
  readonly hostname: string;
  readonly id: string;
  readonly version: string;
  readonly hasKey: boolean;
  readonly addresses: readonly Bound[];
  /** The addresses of this machine by interface, as os.networkInterfaces() has them. */
  readonly links: Readonly<Record<string, readonly { readonly address: string }[] | undefined>>;
}

/** The version of these texts. */
const TXTVERS = 1;
/** One label of DNS. */
const MAX_NAME_BYTES = 63;

/** None for an address on loopback, which no other machine reaches. Pure. */
export function listAnnouncements(facts: AnnouncementFacts): readonly Announcement[] {
  const addresses = facts.addresses.filter(({ host }) => !isLoopback(host));
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

export interface MdnsDeps {
  readonly config: { readonly current: Config };
  readonly host: Pick<Host, 'discovery' | 'readSystem'>;
  readonly log: Log;
  readonly facts: { readonly version: string };
  readonly addresses: readonly Bound[];
}

/** The responder answers within a millisecond; and what is not withdrawn now is when this process ends. */
const WITHDRAW_LIMIT_MS = 300;

export async function openMdns(deps: MdnsDeps, id: string): Promise<Mdns> {
  const { hostname } = await deps.host.readSystem();
  return new Mdns(deps, id, hostname);
}

export class Mdns {
  readonly #deps: MdnsDeps;
  readonly #id: string;
  readonly #hostname: string;
  #announced: readonly Announcement[] | undefined;
  /** The last lines that were logged, by place in the list: each is logged when it has changed. */
  #lines: readonly string[] = [];

  constructor(deps: MdnsDeps, id: string, hostname: string) {
    this.#deps = deps;
    this.#id = id;
    this.#hostname = hostname;
    deps.host.discovery?.onNews((announced) => this.#report(announced));
    this.reconfigure();
  }

  /** A host without discovery is one of a test. */
  reconfigure(): void {
    const { config, addresses, facts, host, log } = this.#deps;
    const list = listAnnouncements({
      hostname: this.#hostname,
      id: this.#id,
      version: facts.version,
      hasKey: config.current.auth.enabled,
      addresses,
      links: networkInterfaces(),
    });
    if (isDeepStrictEqual(list, this.#announced)) return;
    if (list.length === 0) {
      const hosts = [...new Set(addresses.map((address) => address.host))].join(', ');
      log.info(`not announced on the network (discovery.mdns): the service listens only on ${hosts}`);
    }
    this.#announced = list;
    void host.discovery?.announce(list);
  }

  async close(): Promise<void> {
    const { discovery } = this.#deps.host;
    discovery?.onNews(() => undefined);
    if (discovery === undefined || this.#announced?.length === 0) return;
    await Promise.race([discovery.announce([]), delay(WITHDRAW_LIMIT_MS, undefined, { ref: false })]);
  }

  #report(announced: readonly Announced[]): void {
    const { log } = this.#deps;
    const logged = new Set(this.#lines);
    // An unsettled state keeps its line. All may have one reason, which is logged once.
    this.#lines = announced.map(({ name, isAnnounced, reason }, at) => {
      const before = this.#lines[at] ?? '';
      if (!isAnnounced && reason === null) return before;
      const wanted = this.#announced?.[at];
      const line = isAnnounced
        ? `announced on the network as ${JSON.stringify(name)}, port ${wanted?.port} (mDNS)`
        : `not announced on the network (discovery.mdns): ${reason}`;
      if (!logged.has(line)) log[isAnnounced ? 'info' : 'warn'](line);
      logged.add(line);
      return line;
    });
  }
}
