/** Connects to the service, or to a hub. */
import type { HostSocket } from '../../client/client.ts';
import { ClientError } from '../../client/errors.ts';
import { FleetState } from '../../client/hub.ts';
import { MESSAGE_LIMITS } from '../../client/limits.ts';
import { requestIn } from '../../client/rest.ts';
import { connectIn } from '../../client/socket.ts';
import type { SocketConstructor } from '../../client/socket-options.ts';
import { streamStatsIn } from '../../client/stream.ts';
import type { EventList } from '../../wire/events.ts';
import type { FleetEvent, HostList } from '../../wire/hub.ts';
import { environmentFor } from '../environment-for.ts';
import type { Target } from '../target.ts';
import { type Fleet, inOrder, type Samples } from './machines.ts';

/** Node 20 has no WebSocket, and that of later versions sends no headers. */
async function plainSocket(): Promise<SocketConstructor> {
  const { WebSocket } = await import('ws');
  return class extends WebSocket {
    /** The client puts the key into the query, for browsers; proxies write that to their logs. */
    constructor(address: string) {
      const url = new URL(address);
      const key = url.searchParams.get('api_key');
      url.searchParams.delete('api_key');
      super(url.href, {
        ...MESSAGE_LIMITS,
        perMessageDeflate: false,
        headers: key === null ? {} : { authorization: `Bearer ${key}` },
      });
    }
  };
}

export interface Link {
  /** Opens a socket of the service, or of the machine `id` of a hub. */
  readonly open: (id?: string) => HostSocket;
  /** Reads the machines of a hub, those that need somebody first, and its open events. Rejects as `request` of the client. */
  readonly readFleet: () => Promise<Fleet>;
  /** Follows the samples of the machines of a hub. */
  readonly follow: (onChange: (samples: Samples) => void) => { readonly close: () => void };
}

/** The sections whose figures are listed. */
const FIELDS = ['cpu', 'memory', 'disks'] as const;

export async function openLink({ url, key, pin }: Target): Promise<Link> {
  const { environment, WebSocket = await plainSocket() } = await environmentFor(pin);
  return {
    open: (id) =>
      connectIn({ url, key, WebSocket }, environment, id === undefined ? 'api/ws' : `${pathOf(id)}/ws`),
    async readFleet() {
      const read = async <T>(path: string) => (await requestIn<T>(path, { url, key }, environment)).data;
      const [{ hosts }, { open }] = await Promise.all([
        read<HostList>(`api/hosts?fields=${FIELDS}`),
        // A hub of an earlier version has none.
        read<Pick<EventList, 'open'>>('api/events?limit=1').catch(() => ({ open: [] })),
      ]);
      return { hosts: inOrder(hosts), events: open };
    },
    follow(onChange) {
      const fleet = new FleetState();
      // The hub's contract.
      const onSample = (event: unknown) => onChange(fleet.take(event as FleetEvent).hosts);
      return streamStatsIn({ url, key, fields: FIELDS, onSample }, environment, 'api/fleet/stream');
    },
  };
}

const pathOf = (id: string) => `api/hosts/${encodeURIComponent(id)}`;

/** Returns a sentence for people. If only the certificate is refused, it has the pin of the server's key. */
export async function describeFailure(error: unknown, { url }: Target): Promise<string> {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof ClientError) || error.code !== 'untrusted_certificate') return error.message;
  const { readPin } = await import('../../client/pinned.ts');
  const pin = await readPin(url);
  if (pin === undefined) return error.message;
  return `${error.message}. Compare with the pin that "hostwire doctor" prints on that machine; if it is the following, use --pin ${pin}`;
}
