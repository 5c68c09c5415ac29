/** The route of /api/ws: what may become a WebSocket, and what is told that it must. */
import { ServiceError } from '../../errors.ts';
import { readFraming } from '../body.ts';
import { type Gate, SOCKET_PATH } from '../gate.ts';
import { errorAnswer, type Headers } from '../reply.ts';
import type { Request, Route } from '../routes.ts';
import type { Sockets } from '../socket/hub.ts';

/** The headers that an upgrade is judged by, in lower case, beside those that the gate reads. */
export const SOCKET_HEADERS: readonly string[] = ['sec-websocket-version'];

const VERSION = '13';

// A 426 must say what to upgrade to (RFC 9110, 15.5.22 and 7.8; RFC 6455, 4.4).
const UPGRADE: Headers = [
  ['Upgrade', 'websocket'],
  ['Connection', 'Upgrade'],
  ['Sec-WebSocket-Version', VERSION],
];

export interface WebSocketRoutesOptions {
  readonly gate: Pick<Gate, 'keep'>;
  readonly sockets: Sockets;
  /** Whether one more socket may be opened. */
  readonly hasRoom: () => boolean;
}

export function webSocketRoutes({ gate, sockets, hasRoom }: WebSocketRoutesOptions): readonly Route[] {
  return [
    {
      path: SOCKET_PATH,
      methods: {
        GET: {
          run(request) {
            if (!asksForUpgrade(request)) {
              const sentence = 'This path speaks WebSocket; connect with an upgrade.';
              const error = new ServiceError('upgrade_required', sentence);
              return errorAnswer(error, [...UPGRADE, ...request.headers]);
            }
            // What follows would be read as frames.
            const { isChunked, announcedBytes } = readFraming(request.exchange.head);
            if (isChunked || announcedBytes > 0)
              throw new ServiceError('bad_request', 'An upgrade has no body.');
            if (!hasRoom()) throw new ServiceError('too_many_streams', 'No more sockets can be opened now.');
            sockets.open(request.exchange, gate.keep(request.client));
            return undefined;
          },
        },
      },
    },
  ];
}

/** As RFC 6455, 4.2.1, has it. */
function asksForUpgrade({ exchange, client }: Request): boolean {
  const { headers } = exchange.head;
  const options = (headers.get('connection') ?? []).join().toLowerCase().split(',');
  return (
    exchange.canUpgrade &&
    client.isUpgrade &&
    options.some((option) => option.trim() === 'upgrade') &&
    headers.get('sec-websocket-version')?.join() === VERSION
  );
}
