/** One app of uWebSockets.js with its listening socket: for plain HTTP, or for HTTPS with one certificate. */
import * as uws from 'uWebSockets.js';
import type { TlsPair } from '../../tls/pair.ts';
import { ListenError } from '../engine.ts';

// The flag of uSockets that leaves out SO_REUSEPORT: a second instance must fail, not share the port.
const LISTEN_EXCLUSIVE = 1;

export class Listener {
  readonly app: uws.TemplatedApp;
  readonly isSecure: boolean;
  /** Open connections that it has accepted. */
  connections = 0;
  #socket: uws.us_listen_socket | undefined;

  /** Throws an Error when uWebSockets.js refuses the pair, for which it gives no reason. */
  constructor(pair: TlsPair | undefined) {
    this.isSecure = pair !== undefined;
    this.app = pair === undefined ? uws.App() : createSecureApp(pair);
  }

  /** Listens on `host` and `port` (0: a free one) and returns the port. Throws ListenError. */
  listen(host: string, port: number): number {
    // The typings lack this overload; the binding reads (host, port, options, callback).
    const listen = this.app.listen.bind(this.app) as unknown as (
      host: string,
      port: number,
      options: number,
      done: (socket: uws.us_listen_socket | false) => void,
    ) => void;
    listen(host, port, LISTEN_EXCLUSIVE, (socket) => {
      this.#socket = socket === false ? undefined : socket;
    });
    if (this.#socket === undefined) throw new ListenError(host, port);
    return uws.us_socket_local_port(this.#socket);
  }

  get isListening(): boolean {
    return this.#socket !== undefined;
  }

  stopListening(): void {
    if (this.#socket !== undefined) uws.us_listen_socket_close(this.#socket);
    this.#socket = undefined;
  }
}

function createSecureApp({ cert, key }: TlsPair): uws.TemplatedApp {
  try {
    // TLS 1.2 and 1.3. It reads the files itself.
    return uws.SSLApp({ cert_file_name: cert.path, key_file_name: key.path });
  } catch {
    throw new Error(`uWebSockets.js refuses ${cert.path} with ${key.path}`);
  }
}
