/** The socket to a hub or to a machine: with TLS nothing is sent before its key is the one of the pin, or its certificate is accepted. */
import type { RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { PLACES } from '../fairness/limits.ts';
import { fromUrl, inUrl } from '../url-host.ts';
import { connectTo, type PeerEndpoint, type PeerSocketOptions } from './peer-socket.ts';

/** The other side, as the configuration has it. */
export interface PeerTarget extends PeerEndpoint {
  /** The path of a proxy, which comes before the path of the hub. */
  readonly prefix: string;
  /** For the log. */
  readonly name: string;
}

export interface WebSocketOptions extends PeerSocketOptions {
  /** The path and query after the prefix of the target. */
  readonly path: string;
  readonly maxPayloadBytes: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Whether there are thousands of such sockets, each of which is limited by the caller. One alone handles each message in a
   * turn of its own, because a read may have thousands.
   */
  readonly isOneOfMany: boolean;
  /** Called when it is connected, before a byte is sent: an error ends it. */
  readonly refuse?: (socket: Socket) => Error | undefined;
  /** Called with the socket when nothing of it is refused. */
  readonly onConnected?: (socket: Socket) => void;
}

const PORTS: Readonly<Record<string, number>> = { 'ws:': 80, 'http:': 80, 'wss:': 443, 'https:': 443 };

/** `url`: as the configuration accepts it. */
export function peerTargetOf(url: string, pin: string | undefined): PeerTarget {
  const { protocol, hostname, port: given, pathname } = new URL(url);
  const port = given === '' ? (PORTS[protocol] ?? 0) : Number(given);
  const prefix = pathname.replace(/(?<!\/)\/+$/, '');
  const name = `${protocol}//${hostname}:${port}${prefix}`;
  const isSecure = protocol === 'wss:' || protocol === 'https:';
  return { host: fromUrl(hostname), port, isSecure, prefix, pin, name };
}

type CreateConnection = NonNullable<RequestOptions['createConnection']>;
type Done = (error: Error | null, socket?: Socket) => void;

/** Dials. */
export function openWebSocket(target: PeerTarget, options: WebSocketOptions): WebSocket {
  const { host, port, isSecure, prefix } = target;
  const { path, maxPayloadBytes, headers, isOneOfMany, refuse, onConnected } = options;
  // A port that the scheme has by default is not in the header Host.
  const isUsual = port === (isSecure ? 443 : 80);
  const authority = `${inUrl(host)}${isUsual ? '' : `:${port}`}`;
  let connected: Socket | undefined;
  // Its types have no callback, which it has.
  const createConnection = ((_: unknown, done: Done): undefined => {
    connectTo(target, options, (error, socket) => {
      const refusal = socket && refuse?.(socket);
      if (refusal !== undefined) {
        socket?.destroy();
        done(refusal);
        return;
      }
      connected = socket;
      if (socket !== undefined) onConnected?.(socket);
      done(error, socket);
    });
  }) as unknown as CreateConnection;
  const opened = new WebSocket(`${isSecure ? 'wss' : 'ws'}://${authority}${prefix}${path}`, {
    createConnection,
    perMessageDeflate: false,
    maxPayload: maxPayloadBytes,
    // Forwarded payloads are judged where they are parsed.
    skipUTF8Validation: true,
    maxFragments: PLACES.messageParts.max,
    maxBufferedChunks: PLACES.longMessageReads.max,
    allowSynchronousEvents: isOneOfMany,
    followRedirects: false,
    headers: { ...headers },
  });
  // Node leaves the request of the upgrade, with its answer, at the socket: 3 KiB per connection.
  return opened.once('open', () => {
    if (connected !== undefined) Object.assign(connected, { _httpMessage: null });
    connected = undefined;
  });
}
