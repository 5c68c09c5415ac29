/** The paths of WebSockets: accepts upgrades, answers other requests with 426. */

import type { Caller } from '../../access/caller.ts';
import { ServiceError } from '../../errors.ts';
import { readFraming } from '../../http/body.ts';
import type { Exchange } from '../../http/engine.ts';
import type { Gate } from '../../http/gate.ts';
import type { Answer } from '../../http/head.ts';
import { bareAnswer, errorAnswer, type Headers } from '../../http/reply.ts';
import type { Request, Run, Runs } from '../../http/routes.ts';

/** The headers that decide on an upgrade, in lower case, beside those that the gate reads. */
export const SOCKET_HEADERS: readonly string[] = ['sec-websocket-version'];

const VERSION = '13';

// A 426 must say what to upgrade to (RFC 9110, 15.5.22 and 7.8; RFC 6455, 4.4).
const UPGRADE: Headers = [
  ['Upgrade', 'websocket'],
  ['Connection', 'Upgrade'],
  ['Sec-WebSocket-Version', VERSION],
];

export interface SocketRouteDeps {
  readonly gate: Pick<Gate, 'keep'>;
  readonly sockets: { open(exchange: Exchange, caller: Caller): void };
  /** Whether one more socket may be opened. */
  readonly hasCapacity: (caller: Caller) => boolean;
}

export const socketRuns = ({ gate, sockets, hasCapacity }: SocketRouteDeps): Runs<'openSocket'> => ({
  openSocket(request) {
    const refusal = checkUpgrade(request);
    if (refusal !== undefined) return refusal;
    if (!hasCapacity(request.client))
      throw new ServiceError('too_many_streams', 'Too many WebSockets are open.');
    sockets.open(request.exchange, gate.keep(request.client));
    return undefined;
  },
});

/** Upgrades a request whose key only it knows, or returns the refusal. Throws ServiceError. */
export interface DialInDeps {
  open(exchange: Exchange, query: URLSearchParams, caller: Caller): Answer | undefined;
}

/** Where machines dial a hub. */
export const dialInRun =
  (dialIns: DialInDeps, gate: SocketRouteDeps['gate']): Run =>
  (request) => {
    // No browser connects as a machine: a page of any site could open this socket.
    if (request.exchange.head.headers.has('origin'))
      return bareAnswer(403, [['X-Error-Code', 'origin_not_allowed']]);
    return checkUpgrade(request) ?? dialIns.open(request.exchange, request.query, gate.keep(request.client));
  };

/** Returns the answer to a request that is no upgrade. Throws ServiceError. */
function checkUpgrade(request: Request): Answer | undefined {
  if (!isUpgrade(request)) {
    const error = new ServiceError('upgrade_required', 'This path accepts WebSocket upgrades only.');
    return errorAnswer(error, [...UPGRADE, ...request.headers]);
  }
  // A body would be read as frames.
  const { isChunked, announcedBytes } = readFraming(request.exchange.head);
  if (isChunked || announcedBytes > 0)
    throw new ServiceError('bad_request', 'An upgrade must not have a body.');
  return undefined;
}

/** Whether it is a complete upgrade (RFC 6455, 4.2.1), and was judged as one. */
function isUpgrade({ exchange, client }: Request): boolean {
  return (
    exchange.canUpgrade &&
    client.request?.isUpgrade === true &&
    exchange.head.headers.get('sec-websocket-version')?.join() === VERSION
  );
}
