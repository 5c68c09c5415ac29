/** A client of /api/ws outside a browser: the package ws. */
import { WebSocket } from 'ws';
import type { Scope } from '../scope.ts';
import { Talk } from './talk.ts';

export interface SocketOptions {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address of this machine to connect from. */
  readonly from?: string;
  readonly protocols?: readonly string[];
  /** Over TLS, with any certificate. */
  readonly isSecure?: boolean;
  /** The name for TLS; otherwise none is sent. */
  readonly servername?: string;
}

/** The upgrade was refused with an HTTP answer. */
export class Refused extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;

  constructor(status: number, headers: Refused['headers'], body: string) {
    super(`refused with ${status}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

export class SocketClient extends Talk {
  readonly ws: WebSocket;

  private constructor(ws: WebSocket) {
    super();
    this.ws = ws;
    ws.on('message', (bytes: Buffer, isBinary) => {
      const text = String(bytes);
      if (isBinary) throw new Error(`a binary frame: ${text}`);
      this.hear(text);
    });
    ws.on('error', () => undefined);
    ws.once('close', (code, reason) => this.end(code, String(reason)));
  }

  /** As `open`, until the end of `t`. */
  static async openIn(t: Scope, ...how: Parameters<typeof SocketClient.open>): Promise<SocketClient> {
    const client = await SocketClient.open(...how);
    t.teardown(() => client.cut());
    return client;
  }

  /** Opens a socket and waits for `connected`, which stays in the queue. Throws Refused. */
  static async open(port: number, options: SocketOptions = {}): Promise<SocketClient> {
    const { path = '/api/ws', headers = {}, from, protocols = [], isSecure = false, servername } = options;
    const ws = new WebSocket(`${isSecure ? 'wss' : 'ws'}://127.0.0.1:${port}${path}`, [...protocols], {
      headers,
      rejectUnauthorized: false,
      ...(servername === undefined ? {} : { servername }),
      ...(from === undefined ? {} : { localAddress: from }),
    });
    const client = new SocketClient(ws);
    await new Promise<void>((resolve, reject) => {
      ws.once('open', resolve);
      ws.once('error', reject);
      ws.once('unexpected-response', (_request, response) => {
        let body = '';
        response.on('data', (part) => {
          body += String(part);
        });
        response.on('end', () => reject(new Refused(response.statusCode ?? 0, response.headers, body)));
      });
    });
    return client;
  }

  /** Opens a socket that must be refused; returns the refusal. */
  static async refusal(port: number, options: SocketOptions = {}): Promise<Refused> {
    try {
      (await SocketClient.open(port, options)).ws.terminate();
    } catch (error) {
      if (error instanceof Refused) return error;
      throw error;
    }
    throw new Error('the upgrade was not refused');
  }

  override sayText(text: string): void {
    this.ws.send(text);
  }

  cut(): void {
    this.ws.terminate();
  }
}
