/** A client of /api/stream that keeps every chunk and event with its time of arrival and its exact bytes. */

import { PATIENCE_MS } from '../limits.ts';
import type { Scope } from '../scope.ts';
import { parseChunk, parseHead, RawConnection, type RawHead, requestBytes } from './http.ts';

export interface StreamEvent {
  readonly atMs: number;
  /** The exact text between two blank lines. */
  readonly text: string;
}

export interface StreamChunk {
  readonly atMs: number;
  readonly text: string;
  /** Whether its final CRLF arrived with it. */
  readonly wasEnded: boolean;
}

export class EventStream {
  readonly head: RawHead;
  readonly connection: RawConnection;
  readonly chunks: StreamChunk[] = [];
  readonly events: StreamEvent[] = [];
  readonly comments: StreamEvent[] = [];
  #at: number;
  #text = '';
  #taken = 0;
  #isEnded = false;

  private constructor(connection: RawConnection, head: RawHead) {
    this.connection = connection;
    this.head = head;
    this.#at = head.bytes;
  }

  /** As `open`, until the end of `t`. */
  static async openIn(t: Scope, ...how: Parameters<typeof EventStream.open>): Promise<EventStream> {
    const stream = await EventStream.open(...how);
    t.teardown(() => stream.close());
    return stream;
  }

  /** Opens `target`, connecting from the address `from`; throws if no head arrives. */
  static async open(
    port: number,
    target = '/api/stream',
    headers: Readonly<Record<string, string>> = {},
    from?: string,
  ): Promise<EventStream> {
    return await EventStream.over(await RawConnection.open(port, '127.0.0.1', from), target, headers);
  }

  /** The same on a connection that is open. */
  static async over(
    connection: RawConnection,
    target = '/api/stream',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<EventStream> {
    connection.write(requestBytes(target, { headers }));
    return new EventStream(connection, await connection.until((bytes) => parseHead(bytes)));
  }

  /** Whether the last, empty chunk has arrived. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The received part of an incomplete event. */
  get partial(): string {
    return this.#text;
  }

  #take(bytes: Buffer): StreamEvent | undefined {
    for (;;) {
      const chunk = this.#isEnded ? undefined : parseChunk(bytes, this.#at);
      if (chunk === undefined) break;
      const atMs = this.connection.arrivals.at(-1)?.atMs ?? performance.now();
      this.#at = chunk.end;
      if (chunk.data.length === 0) this.#isEnded = true;
      else this.chunks.push({ atMs, text: chunk.data.toString(), wasEnded: chunk.isEnded });
      this.#text += chunk.data.toString();
      for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
        const text = this.#text.slice(0, end);
        (text === ':' ? this.comments : this.events).push({ atMs, text });
        this.#text = this.#text.slice(end + 2);
      }
    }
    return this.events[this.#taken];
  }

  /** The next event; comments are skipped. Throws after `limitMs`. */
  async next(limitMs = PATIENCE_MS): Promise<StreamEvent> {
    const event = await this.connection.until((bytes) => this.#take(bytes), limitMs);
    this.#taken++;
    return event;
  }

  /** The comment at `index` in `comments`. Throws after `limitMs`. */
  async comment(index: number, limitMs = PATIENCE_MS): Promise<StreamEvent> {
    return await this.connection.until((bytes) => {
      this.#take(bytes);
      return this.comments[index];
    }, limitMs);
  }

  /** Number of events that have arrived, taken or not. */
  count(): number {
    this.#take(this.connection.rest);
    return this.events.length;
  }

  /** Waits until the service ends the stream or closes the connection. */
  async ended(limitMs = PATIENCE_MS): Promise<void> {
    await this.connection.until((bytes, isClosed) => {
      this.#take(bytes);
      return this.#isEnded || isClosed ? true : undefined;
    }, limitMs);
  }

  close(): void {
    this.connection.destroy();
  }
}

/** The payload of a data event. Throws if it is not exactly one `data: ` line of JSON. */
export function payloadOf(event: StreamEvent): Readonly<Record<string, unknown>> {
  if (!event.text.startsWith('data: {') || event.text.includes('\n') || event.text.includes('\r'))
    throw new Error(`no one-line data event: ${JSON.stringify(event.text)}`);
  // The contract promises an object; the caller checks its content.
  return JSON.parse(event.text.slice('data: '.length)) as Readonly<Record<string, unknown>>;
}
