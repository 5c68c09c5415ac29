/** A socket to a peer: with TLS it is handed over when the peer's key is the one of the pin, or its certificate is accepted. */
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { openSocket } from '../mqtt/broker-socket.ts';
import { pinOf } from '../tls/certificate.ts';

/** The other side, and what its key is checked with. */
export interface PeerEndpoint {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly pin: string | undefined;
  /** Authorities in PEM form; undefined: those that Node knows. */
  readonly ca?: string | undefined;
}

/** The other side has another key than the one of the pin. */
export class WrongPin extends Error {
  constructor(found: string | undefined) {
    super(`its key has the pin ${found ?? 'of no certificate'}`);
  }
}

export interface PeerSocketOptions {
  /** Time until the other side is connected, its certificate included. The caller limits what follows. */
  readonly limitMs: number;
  /** The socket is one of thousands. */
  readonly isOneOfMany: boolean;
}

/** `done` gets the socket when the other side has the key. */
export function connectTo(
  { host, port, isSecure, pin, ca }: PeerEndpoint,
  { limitMs, isOneOfMany }: PeerSocketOptions,
  done: (error: Error | null, socket?: Socket) => void,
): void {
  const socket = openSocket({ host, port, isSecure, ca, isPinned: pin !== undefined, isOneOfMany });
  const refuse = (error: Error) => {
    clearTimeout(timer);
    socket.destroy();
    done(error);
  };
  // Not a timeout of the socket, which would keep the object of its timer: 0.2 KiB per connection.
  const timer = setTimeout(() => refuse(new Error('no answer in time')), limitMs).unref();
  socket.once('error', refuse);
  socket.once(isSecure ? 'secureConnect' : 'connect', () => {
    const found = pin === undefined ? undefined : pinIn(socket);
    if (found !== pin) {
      refuse(new WrongPin(found));
      return;
    }
    clearTimeout(timer);
    socket.off('error', refuse);
    socket.setNoDelay(true);
    done(null, socket);
  });
}

function pinIn(socket: Socket): string | undefined {
  const certificate = socket instanceof tls.TLSSocket ? socket.getPeerX509Certificate() : undefined;
  return certificate === undefined ? undefined : pinOf(certificate);
}
