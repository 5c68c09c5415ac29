/** Connections: slow, half-closed, idle, and in storms. */
import { requestBytes } from '../../helpers/clients/http.ts';
import { pick } from '../../http/mutate.ts';
import { UPGRADE } from '../../http/socket-attacks.ts';
import { type Attack, atRate, type Place, send, type Target } from '../target.ts';
import { held } from './shapes.ts';

const requestsOf = ({ stream, machine }: Place) => [
  '/api/status',
  `${machine}/usage`,
  stream,
  `${machine}/media/status`,
];

const UNREAD_STREAMS = held(
  { name: 'streams with detail, never read', unit: 'streams', seconds: 25 },
  { perSecond: 25, max: 200 },
  async (target) => send(await target.connect(), requestBytes(`${target.place.stream}?detail=1`)),
);

/** Sends `bytes` at one byte per second on each of 60 connections. */
function trickle(name: string, start: string, rest: string): Attack {
  return {
    name,
    unit: 'bytes',
    seconds: 15,
    run: async (target, _random, signal) => {
      const sockets = await Promise.all(Array.from({ length: 60 }, () => target.connect()));
      for (const socket of sockets) send(socket, start);
      let at = 0;
      await atRate(1, signal, () => {
        for (const socket of sockets) send(socket, rest.charAt(at % rest.length));
        at++;
        target.count(sockets.length);
      });
    },
  };
}

/** One connection after the other; `leave` ends it. */
function storm(
  name: string,
  perSecond: number,
  leave: (socket: Awaited<ReturnType<Target['connect']>>, request: Buffer) => void,
): Attack {
  return {
    name,
    unit: 'connections',
    run: (target, random, signal) =>
      atRate(perSecond, signal, async () => {
        const socket = await target.connect({ allowHalfOpen: true });
        leave(socket, requestBytes(pick(requestsOf(target.place), random) ?? '/api/status'));
        target.count();
      }),
  };
}

const IDLE = held(
  { name: 'idle connections', unit: 'connections', seconds: 12 },
  { perSecond: 150, max: 600 },
  (target) => target.connect(),
);

export const CONNECTIONS: readonly Attack[] = [
  UNREAD_STREAMS,
  trickle(
    'request heads at one byte per second',
    'GET /api/status HTTP/1.1\r\nHost: localhost\r\nX: ',
    'slow',
  ),
  trickle(
    'request bodies at one byte per second',
    'POST /api/media/control HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n',
    '{"action": "none"}',
  ),
  trickle('upgrades at one byte per second', `${UPGRADE.toString('latin1').slice(0, -2)}X: `, 'slow'),
  storm('request, FIN, wait for the answer', 100, (socket, request) => {
    socket.resume();
    socket.end(request);
    setTimeout(() => socket.destroy(), 1000);
  }),
  storm('request, FIN, read nothing', 50, (socket, request) => {
    socket.end(request);
  }),
  storm('connect and close', 150, (socket) => socket.destroy()),
  storm('connect and reset', 150, (socket) => socket.resetAndDestroy()),
  storm('request and reset', 150, (socket, request) => {
    socket.write(request, () => socket.resetAndDestroy());
  }),
  IDLE,
];
