/** An HTTP client on raw sockets: sends exactly the given bytes and parses answers strictly. */
import net from 'node:net';
import tls from 'node:tls';
import { pinOf } from '#src/tls/certificate.js';
import { PATIENCE_MS } from '../limits.ts';
import type { Scope } from '../scope.ts';

export interface RawAnswer {
  readonly status: number;
  readonly reason: string;
  /** As received, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** The values of a header; case does not matter. */
export function valuesOf(answer: Pick<RawAnswer, 'headers'>, name: string): readonly string[] {
  return answer.headers.filter(([n]) => n.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

export function jsonOf(answer: RawAnswer): unknown {
  return JSON.parse(answer.body.toString());
}

/** The bytes are not an HTTP/1.1 answer. */
export class NoAnswerError extends Error {}

const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) ([ -~]+)$/;
const FIELD_LINE = /^([A-Za-z][A-Za-z0-9-]*): ?([ -~]*)$/;

export interface RawHead {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly bytes: number;
}

/** The head at the start of `bytes`; undefined while it is incomplete. Throws NoAnswerError. */
export function parseHead(bytes: Buffer): RawHead | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) {
    const start = bytes.subarray(0, 9).toString('latin1');
    if (!'HTTP/1.1 '.startsWith(start))
      throw new NoAnswerError(`no answer begins with ${JSON.stringify(start)}`);
    return undefined;
  }
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = STATUS_LINE.exec(statusLine);
  if (status === null) throw new NoAnswerError(`bad status line ${JSON.stringify(statusLine)}`);
  const headers = lines.map((line) => {
    const field = FIELD_LINE.exec(line);
    if (field === null) throw new NoAnswerError(`bad header line ${JSON.stringify(line)}`);
    return [field[1] ?? '', field[2] ?? ''] as const;
  });
  return { status: Number(status[1]), reason: status[2] ?? '', headers, bytes: end + 4 };
}

/** One chunk of a chunked body. */
export interface Chunk {
  readonly data: Buffer;
  /** Start of the next chunk; may lie beyond the received bytes if only the CRLF is missing. */
  readonly end: number;
  /** Whether the CRLF that ends it has arrived. */
  readonly isEnded: boolean;
}

/** The chunk at `at`; undefined while its data is incomplete. Throws NoAnswerError. */
export function parseChunk(bytes: Buffer, at: number): Chunk | undefined {
  const lineEnd = bytes.indexOf('\r\n', at);
  if (lineEnd < 0) return undefined;
  const size = bytes.toString('latin1', at, lineEnd);
  if (!/^[0-9a-f]{1,8}$/i.test(size)) throw new NoAnswerError(`bad chunk size ${JSON.stringify(size)}`);
  const dataAt = lineEnd + 2;
  const dataEnd = dataAt + Number.parseInt(size, 16);
  if (bytes.length < dataEnd) return undefined;
  const ending = bytes.toString('latin1', dataEnd, dataEnd + 2);
  if (!'\r\n'.startsWith(ending)) throw new NoAnswerError(`a chunk ends in ${JSON.stringify(ending)}`);
  return { data: bytes.subarray(dataAt, dataEnd), end: dataEnd + 2, isEnded: ending.length === 2 };
}

function parseChunks(
  bytes: Buffer,
  from: number,
): { readonly body: Buffer; readonly end: number } | undefined {
  const parts: Buffer[] = [];
  for (let at = from; ; ) {
    const chunk = parseChunk(bytes, at);
    if (chunk === undefined || !chunk.isEnded) return undefined;
    at = chunk.end;
    if (chunk.data.length === 0) return { body: Buffer.concat(parts), end: at };
    parts.push(chunk.data);
  }
}

/** The answer to `method` at the start of `bytes`, and its end; undefined if incomplete. Throws NoAnswerError. */
export function parseAnswer(
  bytes: Buffer,
  method: string,
  isClosed: boolean,
): { readonly answer: RawAnswer; readonly end: number } | undefined {
  const head = parseHead(bytes);
  if (head === undefined) return undefined;
  const finish = (body: Buffer, end: number) => ({ answer: { ...head, body }, end });
  const [length, ...more] = valuesOf(head, 'content-length');
  const encodings = valuesOf(head, 'transfer-encoding');
  if (more.length > 0 || encodings.length > 1 || (length !== undefined && encodings.length > 0))
    throw new NoAnswerError('an answer with more than one framing');
  if (method === 'HEAD' || [204, 304].includes(head.status) || head.status < 200)
    return finish(Buffer.alloc(0), head.bytes);
  if (encodings.length > 0) {
    if (encodings[0] !== 'chunked') throw new NoAnswerError(`Transfer-Encoding ${encodings[0]}`);
    const chunks = parseChunks(bytes, head.bytes);
    return chunks && finish(chunks.body, chunks.end);
  }
  if (length === undefined) {
    if (!valuesOf(head, 'connection').includes('close')) throw new NoAnswerError('an answer without an end');
    return isClosed ? finish(bytes.subarray(head.bytes), bytes.length) : undefined;
  }
  if (!/^\d+$/.test(length)) throw new NoAnswerError(`Content-Length ${JSON.stringify(length)}`);
  const end = head.bytes + Number(length);
  return bytes.length < end ? undefined : finish(bytes.subarray(head.bytes, end), end);
}

export class RawConnection {
  readonly #socket: net.Socket;
  #received = Buffer.alloc(0);
  #wake: () => void = () => {};
  #isClosed = false;
  /** The received bytes with their time of arrival: one entry per read. */
  readonly arrivals: { readonly atMs: number; readonly bytes: Buffer }[] = [];

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => {
      this.arrivals.push({ atMs: performance.now(), bytes });
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  /** As `open`, until the end of `t`. */
  static async openIn(t: Scope, ...how: Parameters<typeof RawConnection.open>): Promise<RawConnection> {
    const connection = await RawConnection.open(...how);
    t.teardown(() => connection.destroy());
    return connection;
  }

  /** `from`: the address of this machine to connect from. */
  static async open(port: number, host = '127.0.0.1', from?: string): Promise<RawConnection> {
    const socket = net.connect({ port, host, ...(from !== undefined && { localAddress: from }) });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new RawConnection(socket);
  }

  /** Over TLS, with any certificate. */
  static async openSecure(port: number, options: tls.ConnectionOptions = {}): Promise<RawConnection> {
    const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
    await new Promise<void>((resolve, reject) =>
      socket
        .once('secureConnect', resolve)
        .once('error', reject)
        .once('close', () => reject(new Error('closed'))),
    );
    return new RawConnection(socket);
  }

  /** `sha256/…` of the peer's key, over TLS. */
  get pin(): string | undefined {
    const certificate =
      this.#socket instanceof tls.TLSSocket ? this.#socket.getPeerX509Certificate() : undefined;
    return certificate && pinOf(certificate);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Bytes received and not yet parsed as an answer. */
  get rest(): Buffer {
    return this.#received;
  }

  write(bytes: string | Buffer): void {
    if (!this.#socket.destroyed) this.#socket.write(bytes);
  }

  /** Half-closes: no more will be sent. */
  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** The first result of `look` on the received bytes that is not undefined. Throws after `limitMs`. */
  async until<T>(
    look: (bytes: Buffer, isClosed: boolean) => T | undefined,
    limitMs = PATIENCE_MS,
  ): Promise<T> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      const found = look(this.#received, this.#isClosed);
      if (found !== undefined) return found;
      const left = deadline - performance.now();
      if (left <= 0 || this.#isClosed) {
        const state = this.#isClosed ? 'closed' : `silent for ${limitMs} ms`;
        throw new Error(`${state} after ${JSON.stringify(this.#received.toString('latin1').slice(0, 300))}`);
      }
      await this.#nextArrival(left);
    }
  }

  async #nextArrival(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, limitMs);
    });
    clearTimeout(timer);
  }

  /** The next answer; interim ones (100) are skipped unless no other answer arrives. */
  async readAnswer(method = 'GET', limitMs = PATIENCE_MS): Promise<RawAnswer> {
    const { answer, end } = await this.until(
      (bytes, isClosed) => parseAnswer(bytes, method, isClosed),
      limitMs,
    );
    this.#received = this.#received.subarray(end);
    return answer;
  }

  /** Waits for the peer to close. Throws after `limitMs`. */
  async closed(limitMs = PATIENCE_MS): Promise<void> {
    await this.until((_bytes, isClosed) => (isClosed ? true : undefined), limitMs);
  }
}

export interface RequestParts {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A request as bytes, with Content-Length if it has a body. */
export function requestBytes(target: string, parts: RequestParts = {}): Buffer {
  const { method = 'GET', headers = {}, body } = parts;
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const content = Buffer.from(body ?? '');
  if (body !== undefined) lines.push(`Content-Length: ${content.length}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`), content]);
}

/** Sends one request on its own connection (from the address `from`) and returns its answer. */
export async function ask(
  port: number,
  target: string,
  parts: RequestParts = {},
  from?: string,
): Promise<RawAnswer> {
  const connection = await RawConnection.open(port, '127.0.0.1', from);
  try {
    connection.write(requestBytes(target, parts));
    return await connection.readAnswer(parts.method ?? 'GET');
  } finally {
    connection.destroy();
  }
}
