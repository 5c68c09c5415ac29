/** HTTPS of the engine on Node. */
import type https from 'node:https';
import type { Duplex } from 'node:stream';
import type { TlsPair } from '../../tls/pair.ts';
import { faultBytes, PLAIN_REQUEST } from './head.ts';

/** Time for a handshake, as for the head of a request. */
const HANDSHAKE_LIMIT_MS = 10_000;

const contextOf = ({ cert, key }: TlsPair) => ({
  cert: cert.pem,
  key: key.pem,
  minVersion: 'TLSv1.2' as const,
});

/** Rejects with an Error when OpenSSL refuses the pair. */
export async function createSecureServer(options: https.ServerOptions, pair: TlsPair): Promise<https.Server> {
  // Loaded only where a certificate is configured.
  const { default: https } = await import('node:https');
  return https.createServer({ ...options, ...contextOf(pair), handshakeTimeout: HANDSHAKE_LIMIT_MS });
}

/** For new connections. Throws an Error when OpenSSL refuses the pair, and keeps the old one. */
export function renewContext(server: https.Server, pair: TlsPair): void {
  server.setSecureContext(contextOf(pair));
}

/** Answers a request in plain HTTP, which OpenSSL has refused, and ends the connection. */
export function answerPlain(socket: Duplex): void {
  // The TCP connection, which this port's TLS has not taken over yet. Node has no public name for it.
  const { _parent: connection } = socket as { readonly _parent?: Duplex };
  connection?.end(faultBytes(PLAIN_REQUEST));
  socket.destroy();
}
