/**
 * Requests and WebSockets to the server with a certain key, on Node. Nothing is sent before the handshake has proved that
 * the server has it; names, dates and issuers of its certificate do not matter. Loaded when a pin is used.
 */
import https from 'node:https';
import { Readable } from 'node:stream';
import tls from 'node:tls';
import { pinOf } from '../tls/certificate.ts';
import type { ClientError } from './errors.ts';
import { MESSAGE_LIMITS } from './limits.ts';
import type { Pinned } from './pin.ts';

const HANDSHAKE_LIMIT_MS = 10_000;

interface Target {
  readonly host?: string | null | undefined;
  readonly port?: number | string | null | undefined;
}

type Found = (error: Error | null, socket?: tls.TLSSocket, pin?: string) => void;

/** Connects whatever the certificate says; `found` gets the socket with the pin of the server's key. */
function connectTls({ host, port }: Target, found: Found): void {
  const name = host ?? 'localhost';
  const socket = tls.connect({
    host: name,
    port: Number(port || 443),
    // An address is not a server name.
    ...(/^[\d.]+$|:/.test(name) ? {} : { servername: name }),
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    // The pin decides instead.
    rejectUnauthorized: false,
  });
  const refuse = (error: Error) => {
    socket.destroy();
    found(error);
  };
  const late = Object.assign(new Error('the TLS handshake timed out'), { code: 'ETIMEDOUT' });
  socket.setTimeout(HANDSHAKE_LIMIT_MS, () => refuse(late));
  socket.once('error', refuse);
  socket.once('secureConnect', () => {
    const certificate = socket.getPeerX509Certificate();
    socket.setTimeout(0);
    socket.off('error', refuse);
    found(null, socket, certificate && pinOf(certificate));
  });
}

/** Resolves with the pin of the key that the server at `url` has; undefined without one. Nothing is sent to it. */
export function readPin(url: string): Promise<string | undefined> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    connectTls({ host: hostname.replace(/^\[|\]$/g, ''), port }, (_, socket, pin) => {
      socket?.destroy();
      resolve(pin);
    });
  });
}

type CreateConnection = NonNullable<https.RequestOptions['createConnection']>;

/** `ErrorClass`: that of the client, which is built into another file. */
export async function createPinned(pin: string, ErrorClass: typeof ClientError): Promise<Pinned> {
  const { WebSocket } = await import('ws');
  const connect = (target: Target, done: Found): undefined => {
    connectTls(target, (error, socket, found) => {
      if (socket === undefined || found === pin) return done(error, socket);
      socket.destroy();
      done(new ErrorClass('wrong_certificate', `the server's key has the pin ${found}, not ${pin}`));
    });
  };
  // Its types have no callback, which it has.
  const createConnection = connect as unknown as CreateConnection;
  return {
    // Called with a text and these options only.
    fetch: ((url: string, init: RequestInit = {}) => request(url, init, createConnection)) as typeof fetch,
    WebSocket: class extends WebSocket {
      constructor(url: string) {
        super(url, { ...MESSAGE_LIMITS, createConnection, perMessageDeflate: false });
      }
    },
  };
}

/** As fetch, for what the client requests: no redirects, and a text as the body. */
function request(url: string, init: RequestInit, createConnection: CreateConnection): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = https.request(url, {
      method: init.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(init.signal && { signal: init.signal }),
      createConnection,
    });
    sent.on('error', reject);
    sent.once('response', (incoming) => {
      const headers = new Headers();
      for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2)
        headers.append(incoming.rawHeaders[i] ?? '', incoming.rawHeaders[i + 1] ?? '');
      const { statusCode: status = 0 } = incoming;
      // These have no body, which Response checks.
      const isBare = status === 204 || status === 304;
      // Node's types of its streams and of those of the web differ.
      const body = isBare ? null : (Readable.toWeb(incoming) as ConstructorParameters<typeof Response>[0]);
      resolve(new Response(body, { status, headers }));
    });
    sent.end(init.body ?? undefined);
  });
}
