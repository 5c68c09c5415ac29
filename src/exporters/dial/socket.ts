/** The socket to a hub: with TLS nothing is sent before its key is the one of the pin, or its certificate is accepted. */
import type { RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { WebSocket } from 'ws';
import { pinOf } from '../../tls/certificate.ts';
import { openSocket } from '../mqtt/link/broker.ts';
import { DIAL_PATH } from './proof.ts';

/** A hub, as the configuration has it. */
export interface HubTarget {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** What comes before the path of agents: of a proxy. */
  readonly prefix: string;
  readonly pin: string | undefined;
  /** For the log. */
  readonly name: string;
}

const PORTS = { 'ws:': 80, 'wss:': 443 };
/** Longer than any command. */
const MAX_PAYLOAD_BYTES = 128 * 1024;
/** Frames of one message, and reads of one frame: the library keeps each as a buffer of its own, 16,384 of them by default. */
const MAX_FRAGMENTS = 64;
const MAX_CHUNKS = 1024;

/** `url`: as the configuration accepts it. */
export function hubTargetOf(url: string, pin: string | undefined): HubTarget {
  const { protocol, hostname, port: given, pathname } = new URL(url);
  const isSecure = protocol === 'wss:';
  const port = given === '' ? PORTS[isSecure ? 'wss:' : 'ws:'] : Number(given);
  const prefix = pathname.replace(/\/+$/, '');
  const name = `${protocol}//${hostname}:${port}${prefix}`;
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port, isSecure, prefix, pin, name };
}

type CreateConnection = NonNullable<RequestOptions['createConnection']>;
type Done = (error: Error | null, socket?: Socket) => void;

/** `done` gets the socket when the hub has the key. */
function connectTo({ host, port, isSecure, pin }: HubTarget, limitMs: number, done: Done): void {
  const socket = openSocket({ host, port, isSecure, ca: undefined, isPinned: pin !== undefined });
  const refuse = (error: Error) => {
    socket.destroy();
    done(error);
  };
  socket.once('error', refuse);
  socket.setTimeout(limitMs, () => refuse(new Error('it does not answer')));
  socket.once(isSecure ? 'secureConnect' : 'connect', () => {
    if (pin !== undefined && pinIn(socket) !== pin) {
      refuse(new Error('its key is not the one of hub.pin'));
      return;
    }
    socket.off('error', refuse);
    socket.setTimeout(0);
    socket.setNoDelay(true);
    done(null, socket);
  });
}

function pinIn(socket: Socket): string | undefined {
  const certificate = socket instanceof tls.TLSSocket ? socket.getPeerX509Certificate() : undefined;
  return certificate === undefined ? undefined : pinOf(certificate);
}

/** Dials. `limitMs`: until the hub has agreed to a WebSocket. */
export function openWebSocket(target: HubTarget, limitMs: number): WebSocket {
  const { host, port, isSecure, prefix } = target;
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  // Its types have no callback, which it has.
  const createConnection = ((_: unknown, done: Done): undefined => {
    connectTo(target, limitMs, done);
  }) as unknown as CreateConnection;
  return new WebSocket(`${isSecure ? 'wss' : 'ws'}://${authority}${prefix}${DIAL_PATH}`, {
    createConnection,
    perMessageDeflate: false,
    handshakeTimeout: limitMs,
    maxPayload: MAX_PAYLOAD_BYTES,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_CHUNKS,
    // Each message in a turn of its own: a read may have thousands.
    allowSynchronousEvents: false,
    followRedirects: false,
    headers: { 'User-Agent': 'hostwire-agent' },
  });
}
