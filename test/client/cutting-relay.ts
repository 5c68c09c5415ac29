/** A relay between a client and a service on loopback that ends connections after a number of bytes or a time. */
import net from 'node:net';
import type { Test } from 'tap';

export interface Relay {
  readonly url: string;
  /** The bytes that each connection passed to its client. */
  readonly passed: readonly Buffer[][];
  /** When the next connection is ended: after this many bytes of the service, this many milliseconds, or never. */
  nextEnd: () => { readonly bytes?: number; readonly ms?: number };
}

/** The relay is closed with the test. */
export async function startRelay(t: Test, servicePort: number): Promise<Relay> {
  const sockets = new Set<net.Socket>();
  const passed: Buffer[][] = [];
  const server = net.createServer((client) => {
    const service = net.connect(servicePort, '127.0.0.1');
    const own: Buffer[] = [];
    passed.push(own);
    const { bytes: most = Number.POSITIVE_INFINITY, ms } = relay.nextEnd();
    let left = most;
    const end = () => {
      // The bytes that were passed on arrive; nothing more does.
      left = 0;
      client.end();
      service.destroy();
    };
    const timer = ms === undefined ? undefined : setTimeout(end, ms);
    client.once('close', () => clearTimeout(timer));
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => sockets.delete(socket));
    }
    client.on('data', (bytes) => service.write(bytes));
    client.once('close', () => service.destroy());
    service.once('close', () => client.end());
    service.on('data', (bytes) => {
      if (left <= 0) return;
      const part = bytes.subarray(0, left);
      left -= part.length;
      own.push(part);
      client.write(part);
      if (left <= 0) end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const relay: Relay = { url: `http://127.0.0.1:${address.port}`, passed, nextEnd: () => ({}) };
  return relay;
}
