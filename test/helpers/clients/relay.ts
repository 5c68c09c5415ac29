/** A port that stays open while the service behind it restarts, as a browser would see it; connections can be cut. */
import net from 'node:net';
import type { Scope } from '../scope.ts';
import { listen } from './listen.ts';

export interface Relay {
  readonly port: number;
  readonly baseUrl: string;
  /** Closes the open connections. */
  readonly cut: () => void;
  /** Nothing passes on the open connections any more, and none is closed. */
  readonly freeze: () => void;
  /** Sets the port that new connections are forwarded to (undefined: they are closed), and closes the open ones. */
  readonly setTarget: (port: number | undefined) => void;
}

/** `onRequest` is called with the bytes that clients send. */
export async function startRelay(
  t: Scope,
  port: number,
  onRequest?: (bytes: Buffer) => void,
): Promise<Relay> {
  let target: number | undefined = port;
  const sockets = new Set<net.Socket>();
  const keep = (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const server = net.createServer((near) => {
    keep(near);
    if (target === undefined) {
      near.destroy();
      return;
    }
    const far = net.connect(target, '127.0.0.1');
    keep(far);
    if (onRequest !== undefined) near.on('data', onRequest);
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  const cut = () => sockets.forEach((socket) => socket.destroy());
  const own = await listen(t, server);
  t.teardown(cut);
  return {
    port: own,
    baseUrl: `http://127.0.0.1:${own}`,
    cut,
    freeze: () => sockets.forEach((socket) => socket.unpipe().pause()),
    setTarget(next) {
      target = next;
      cut();
    },
  };
}
