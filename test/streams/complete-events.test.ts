/** On the wire an event is complete when it is sent, the CRLF of its last chunk included; parsed strictly. */
import net from 'node:net';
import t, { type Test } from 'tap';
import { parseChunk, requestBytes } from '../helpers/clients/http.ts';
import { serveStreams } from '../helpers/service/stream-server.ts';
import { until } from '../helpers/until.ts';

const KIB = 1024;

/** A reader of one stream that keeps the number of the newest event in two ways. */
class WireReader {
  readonly #socket: net.Socket;
  /** Bytes from the first incomplete chunk on. */
  #bytes: Buffer = Buffer.alloc(0);
  #hasHead = false;
  /** The text of complete chunks, from the last event on. */
  #text = '';
  /** The newest event for a reader that uses each byte as it arrives. */
  arrived = -1;
  /** The newest event for a reader that uses complete chunks only, the CRLF at their end included. */
  completed = -1;
  /** Reads after which an event had arrived whose chunk was incomplete. */
  lateReads = 0;

  constructor(t: Test, port: number) {
    this.#socket = net.connect(port, '127.0.0.1');
    this.#socket.write(requestBytes('/api/stream'));
    this.#socket.on('data', (bytes: Buffer) => this.#take(bytes));
    t.teardown(() => this.#socket.destroy());
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  #take(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    if (!this.#hasHead) {
      const end = this.#bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.#hasHead = true;
      this.#bytes = this.#bytes.subarray(end + 4);
    }
    let at = 0;
    let unfinished = '';
    for (let chunk = parseChunk(this.#bytes, at); chunk !== undefined; chunk = parseChunk(this.#bytes, at)) {
      if (!chunk.isEnded) {
        unfinished = chunk.data.toString();
        break;
      }
      this.#text += chunk.data.toString();
      at = chunk.end;
    }
    this.#bytes = this.#bytes.subarray(at);
    this.completed = newestIn(this.#text) ?? this.completed;
    this.arrived = newestIn(this.#text + unfinished) ?? this.completed;
    if (this.arrived !== this.completed) this.lateReads++;
    this.#text = this.#text.slice(this.#text.lastIndexOf('\n\n') + 1);
  }

  /** Waits until the event `number` is there, as one kind of reader sees it. */
  async until(kind: 'arrived' | 'completed', number: number, limitMs?: number): Promise<void> {
    await until(() => this[kind] === number, undefined, limitMs);
  }
}

function newestIn(text: string): number | undefined {
  const events = [...text.matchAll(/^data: \{"timestamp":(\d+),.*\}\n\n/gm)];
  const digits = events.at(-1)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const serve = async (t: Test, eventBytes: number) =>
  serveStreams(t, { address: '127.0.0.1', eventBytes, tickMs: undefined });

// All of them arrive in one read of 64 KiB. Around 16 KiB they leave in one piece or in two.
for (const eventBytes of [10, KIB, 12 * KIB, 16 * KIB - 160, 16 * KIB - 100, 16 * KIB, 20 * KIB, 50 * KIB])
  t.test(`[4.complete] events of ${eventBytes} bytes end with their chunk, in one read`, async (t) => {
    const { port, publish } = await serve(t, eventBytes);
    const reader = new WireReader(t, port);
    await reader.until('arrived', 0);
    for (let number = 1; number <= 20; number++) {
      publish();
      await reader.until('arrived', number);
    }
    t.equal(reader.completed, 20);
    t.equal(reader.lateReads, 0);
  });

for (const eventBytes of [KIB, 16 * KIB, 100 * KIB])
  t.test(`[4.complete] events of ${eventBytes} bytes are completed for a reader that stalls`, async (t) => {
    const { port, publish } = await serve(t, eventBytes);
    const reader = new WireReader(t, port);
    await reader.until('arrived', 0);
    let number = 0;
    for (let round = 1; round <= 5; round++) {
      reader.pause();
      // Beyond what the kernel holds for both ends: the socket is full.
      const last = number + Math.ceil((12 * KIB * KIB) / eventBytes);
      while (number < last) {
        publish();
        number++;
        if (number % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      }

      reader.resume();
      await reader.until('arrived', number);
      // Its end, without another event.
      await reader.until('completed', number, 5000);
    }
  });
