import http from 'node:http';
import net from 'node:net';
import type { WebSocketServer } from 'ws';
import type { Scope } from '../scope.ts';

/** Lets `server` listen on a free port of `host`, where it does not yet, until the end of `t`; returns the port. */
export async function listen(
  t: Scope,
  server: net.Server | WebSocketServer,
  host = '127.0.0.1',
): Promise<number> {
  t.teardown(() => {
    if (!(server instanceof net.Server)) for (const client of server.clients) client.terminate();
    server.close();
    if (server instanceof http.Server) server.closeAllConnections();
  });
  if (server.address() === null) {
    if (server instanceof net.Server) server.listen(0, host);
    await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  }
  // It listens on a port.
  return (server.address() as net.AddressInfo).port;
}
