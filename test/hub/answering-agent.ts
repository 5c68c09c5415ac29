/** An agent that a test plays: it keeps connections, and answers each request as the test says, or not at all. */
import net from 'node:net';

export interface Seen {
  readonly method: string;
  readonly path: string;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** The number of its connection, in the order of their beginnings. */
  readonly connection: number;
}

/** The bytes of the answer; undefined: none; 'cut': the connection is reset. */
export type Say = (seen: Seen) => string | undefined | 'cut' | Promise<string | undefined>;

interface Scope {
  teardown(run: () => unknown): unknown;
}

export const RUN = 'abc123';

export function reply(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = { 'Content-Type': 'application/json; charset=utf-8' },
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} X\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** The answer to the check whether it is there, with a clock. */
export const there = (clock = performance.now(), run = RUN): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Hostwire-Clock: ${run} ${Math.floor(clock)}\r\n\r\n`;

export class AnsweringAgent {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly #say: Say;
  readonly seen: Seen[] = [];
  /** That were begun. */
  connections = 0;
  port = 0;

  private constructor(say: Say) {
    this.#say = say;
    this.#server = net.createServer((socket) => this.#serve(socket));
  }

  /** `say`: what it answers to everything but checks and the question for its hardware, which it answers itself. */
  static async start(t: Scope, say: Say): Promise<AnsweringAgent> {
    const agent = new AnsweringAgent(say);
    await new Promise<void>((resolve) => agent.#server.listen(0, '127.0.0.1', resolve));
    // It listens on a port.
    agent.port = (agent.#server.address() as net.AddressInfo).port;
    t.teardown(() => agent.stop());
    return agent;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Connections that are open. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Closes every connection in good order; it goes on listening. */
  end(): void {
    for (const socket of this.#sockets) socket.end();
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** What came to this path. */
  at(path: string): readonly Seen[] {
    return this.seen.filter((each) => each.path.startsWith(path));
  }

  #serve(socket: net.Socket): void {
    const connection = this.connections++;
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    let kept = '';
    socket.on('data', (bytes: Buffer) => {
      kept += bytes.toString('latin1');
      for (;;) {
        const end = kept.indexOf('\r\n\r\n');
        if (end < 0) return;
        const [line = '', ...lines] = kept.slice(0, end).split('\r\n');
        const headers = new Map(
          lines.map((each) => [
            each.slice(0, each.indexOf(':')).toLowerCase(),
            each.slice(each.indexOf(':') + 2),
          ]),
        );
        const length = Number(headers.get('content-length') ?? 0);
        if (kept.length < end + 4 + length) return;
        const body = kept.slice(end + 4, end + 4 + length);
        kept = kept.slice(end + 4 + length);
        const [method = '', path = ''] = line.split(' ');
        void this.#answer(socket, { method, path, headers, body, connection });
      }
    });
  }

  async #answer(socket: net.Socket, seen: Seen): Promise<void> {
    this.seen.push(seen);
    const answer = await this.#say(seen);
    if (answer === 'cut') socket.resetAndDestroy();
    else if (answer !== undefined) socket.write(answer);
    else if (seen.method === 'HEAD') socket.write(there());
    else if (seen.path === '/api/system') socket.write(reply(200, '{"hostname":"played"}'));
  }
}
