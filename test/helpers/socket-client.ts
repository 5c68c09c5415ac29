/** A client of /api/ws: says what it is told to, and keeps what it is told until a test takes it. */
import { WebSocket } from 'ws';

export interface Told {
  readonly type: string;
  readonly id?: string | number;
  // What is read from it is compared with what is expected of it.
  readonly data: Readonly<Record<string, unknown>>;
  /** The message as it came. */
  readonly text: string;
  readonly atMs: number;
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
  readonly atMs: number;
}

export interface SocketOptions {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address of this machine to connect from. */
  readonly from?: string;
  readonly protocols?: readonly string[];
}

/** The upgrade was answered with something else. */
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

export class SocketClient {
  readonly ws: WebSocket;
  /** All that was told, in order. */
  readonly told: Told[] = [];
  readonly closed: Promise<Closed>;
  readonly #untaken: Told[] = [];
  #wake: () => void = () => undefined;
  isClosed = false;

  private constructor(ws: WebSocket) {
    this.ws = ws;
    ws.on('message', (bytes: Buffer, isBinary) => {
      const text = String(bytes);
      if (isBinary) throw new Error(`a binary frame: ${text}`);
      // As the documents have it; tests hold it against exact shapes.
      const told = { ...(JSON.parse(text) as Omit<Told, 'text' | 'atMs'>), text, atMs: performance.now() };
      this.told.push(told);
      this.#untaken.push(told);
      this.#wake();
    });
    ws.on('error', () => undefined);
    this.closed = new Promise((resolve) =>
      ws.once('close', (code, reason) => {
        this.isClosed = true;
        this.#wake();
        resolve({ code, reason: String(reason), atMs: performance.now() });
      }),
    );
  }

  /** Open and greeted; the greeting is not taken. Throws Refused. */
  static async open(port: number, options: SocketOptions = {}): Promise<SocketClient> {
    const { path = '/api/ws', headers = {}, from, protocols = [] } = options;
    const ws = new WebSocket(`ws://127.0.0.1:${port}${path}`, [...protocols], {
      headers,
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

  /** The status that the upgrade is refused with. */
  static async refusal(port: number, options: SocketOptions = {}): Promise<Refused> {
    try {
      (await SocketClient.open(port, options)).ws.terminate();
    } catch (error) {
      if (error instanceof Refused) return error;
      throw error;
    }
    throw new Error('the upgrade was not refused');
  }

  say(op: string, data?: object, id?: string | number): void {
    this.sayText(JSON.stringify({ op, id, data }));
  }

  sayText(text: string): void {
    this.ws.send(text);
  }

  /** The first that is `wanted` (a type, or a condition) of what was not taken yet. Throws after `limitMs`. */
  async take(wanted: string | ((told: Told) => boolean), limitMs = 5000): Promise<Told> {
    const isWanted = typeof wanted === 'string' ? (told: Told) => told.type === wanted : wanted;
    const deadline = performance.now() + limitMs;
    for (;;) {
      const at = this.#untaken.findIndex(isWanted);
      const [found] = at < 0 ? [] : this.#untaken.splice(at, 1);
      if (found !== undefined) return found;
      const left = deadline - performance.now();
      if (left <= 0 || this.isClosed) {
        const last = this.told.slice(-5).map(({ text }) => text.slice(0, 200));
        throw new Error(
          `${this.isClosed ? 'closed' : 'silent'}, not told ${String(wanted)}: ${last.join('\n')}`,
        );
      }
      await this.#nextWake(left);
    }
  }

  async #nextWake(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, limitMs);
    });
    clearTimeout(timer);
  }

  /** Says it with `id` and takes the first answer to it. */
  async ask(op: string, data: object | undefined, id: string | number): Promise<Told> {
    this.say(op, data, id);
    return await this.take((told) => told.id === id);
  }

  /** As `ask`, all that is answered until a feedback is final or an error. */
  async askToEnd(op: string, data: object, id: string | number): Promise<readonly Told[]> {
    this.say(op, data, id);
    const answers: Told[] = [];
    for (;;) {
      const told = await this.take((each) => each.id === id, 10_000);
      answers.push(told);
      if (told.data['final'] !== false) return answers;
    }
  }

  /** All that was told before now was read: what is untaken is all there is. */
  async settle(): Promise<readonly Told[]> {
    await this.ask('ping', undefined, `settle ${performance.now()}`);
    return this.#untaken.splice(0);
  }

  cut(): void {
    this.ws.terminate();
  }
}
