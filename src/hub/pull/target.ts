/** Where an agent is and how it is spoken to, from its entry in the configuration. */
import type { AgentEntry } from '../../config/rows/hub-rows.ts';

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** What its key must be, where no authority has to have signed its certificate. */
  readonly pin: string | undefined;
  /** The headers of every request, with a CRLF after each. */
  readonly headers: string;
}

const PORTS = { http: 80, https: 443 };

/** An entry that the hub connects to. */
export type PulledEntry = AgentEntry & { readonly url: string };

export const isPulled = (entry: AgentEntry): entry is PulledEntry => entry.url !== undefined;

/** `url`: as the configuration accepts it. */
export function targetOf({ url, key_file: key, pin }: Omit<PulledEntry, 'labels'>): Target {
  const { protocol, hostname, host, port } = new URL(url);
  const isSecure = protocol === 'https:';
  const authorization = key === undefined ? '' : `Authorization: Bearer ${key.secret}\r\n`;
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? PORTS[isSecure ? 'https' : 'http'] : Number(port),
    isSecure,
    pin,
    headers: `Host: ${host}\r\nUser-Agent: hostwire-hub\r\n${authorization}`,
  };
}
