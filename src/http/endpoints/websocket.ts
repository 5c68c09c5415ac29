/** /api/ws: accepts upgrades, answers other requests with 426. */
import { ServiceError } from '../../errors.ts';
import { readFraming } from '../body.ts';
import type { Caller } from '../clients/caller.ts';
import type { Gate } from '../gate.ts';
import { errorAnswer, type Headers } from '../reply.ts';
import type { Request, Runs } from '../routes.ts';
import type { Hub } from '../socket/hub.ts';

/** The headers that decide on an upgrade, in lower case, beside those that the gate reads. */
export const SOCKET_HEADERS: readonly string[] = ['sec-websocket-version'];

const VERSION = '13';

// A 426 must say what to upgrade to (RFC 9110, 15.5.22 and 7.8; RFC 6455, 4.4).
const UPGRADE: Headers = [
  ['Upgrade', 'websocket'],
  ['Connection', 'Upgrade'],
  ['Sec-WebSocket-Version', VERSION],
];

export interface SocketRooms {
  readonly gate: Pick<Gate, 'keep'>;
  readonly sockets: Pick<Hub, 'open'>;
  /** Whether one more socket may be opened. */
  readonly hasRoom: (caller: Caller) => boolean;
}

export const socketRuns = ({ gate, sockets, hasRoom }: SocketRooms): Runs<'openSocket'> => ({
  openSocket(request) {
    if (!isUpgrade(request)) {
      const error = new ServiceError(
        'upgrade_required',
        'This path speaks WebSocket; connect with an upgrade.',
      );
      return errorAnswer(error, [...UPGRADE, ...request.headers]);
    }
    // A body would be read as frames.
    const { isChunked, announcedBytes } = readFraming(request.exchange.head);
    if (isChunked || announcedBytes > 0) throw new ServiceError('bad_request', 'An upgrade has no body.');
    if (!hasRoom(request.client))
      throw new ServiceError('too_many_streams', 'No more sockets can be opened now.');
    sockets.open(request.exchange, gate.keep(request.client));
    return undefined;
  },
});

/** Whether it is a complete upgrade (RFC 6455, 4.2.1), and was judged as one. */
function isUpgrade({ exchange, client }: Request): boolean {
  return (
    exchange.canUpgrade &&
    client.isUpgrade &&
    exchange.head.headers.get('sec-websocket-version')?.join() === VERSION
  );
}
