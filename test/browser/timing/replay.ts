/** Times answers from Node with the bytes that a browser sends: without its noise, so with a better resolution. */
import net from 'node:net';
import { performance } from 'node:perf_hooks';
import type { ServiceProcess } from '../../helpers/service/service.ts';
import { randomOrder, type Sample } from './classifier.ts';
import { become, type Pair, type Question, type Services } from './services.ts';

const NOTHING = Buffer.alloc(0);

/** Keeps a connection to one port, and measures one request at a time. */
export class Connection {
  readonly #socket: net.Socket;
  #received: Buffer = NOTHING;
  #onWhole: (() => void) | undefined;

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
  }

  /** `from`: the address of this machine to connect from. */
  static async open(port: number, from = '127.0.0.1'): Promise<Connection> {
    const socket = net.connect({ port, host: '127.0.0.1', localAddress: from });
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new Connection(socket);
  }

  /** The time from the request to the last byte of its answer, in milliseconds. */
  async time(request: Buffer): Promise<number> {
    const begun = performance.now();
    await new Promise<void>((resolve, reject) => {
      this.#onWhole = resolve;
      this.#socket.once('close', () => reject(new Error('the service closed the connection')));
      this.#socket.write(request);
    });
    const took = performance.now() - begun;
    this.#socket.removeAllListeners('close');
    return took;
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received.toString('latin1', 0, end))?.[1]);
    if (this.#received.length < end + 4 + length) return;
    this.#received = NOTHING;
    this.#onWhole?.();
  }
}

/** Questions to each service before the first one that counts: its code is compiled while it runs. */
const WARM_UP = 4000;

const requestTo = (port: number, path: string, head: string) =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${head}`, 'latin1');

/** Makes all of them equally experienced. */
export async function warmUp(services: readonly ServiceProcess[], head: string): Promise<void> {
  for (const { port } of services) {
    const connection = await Connection.open(port);
    const request = requestTo(port, '/api/processes/warm', head);
    for (let count = 0; count < WARM_UP; count++) await connection.time(request);
    connection.close();
  }
}

/** Times `count` requests of `pair` in random order, one at a time. */
export async function replayPair(
  services: Services,
  { first, second }: Pair,
  head: string,
  count: number,
  seed: number,
): Promise<readonly Sample[]> {
  const prepare = async (question: Question) => ({
    request: requestTo(services[question.variant].port, question.path, head),
    connection: await Connection.open(services[question.variant].port),
  });
  const asked = { first: await prepare(first), second: await prepare(second) };
  const samples: Sample[] = [];
  for (const isFirst of randomOrder(count, seed)) {
    const { request, connection } = isFirst ? asked.first : asked.second;
    samples.push({ isFirst, tookMs: await connection.time(request) });
  }
  asked.first.connection.close();
  asked.second.connection.close();
  return samples;
}

/** Blocks of samples between two changes of the service, and the samples after a change that do not count. */
const BLOCKS = 1000;
const SETTLING = 10;

/**
 * Times `count` requests to one service that becomes the variants of `pair` in random order. Two services differ by a
 * microsecond even if they are alike, because each has compiled its code at other moments.
 */
export async function replayChanging(
  service: ServiceProcess,
  { first, second }: Pair,
  head: string,
  count: number,
  seed: number,
): Promise<readonly Sample[]> {
  const connection = await Connection.open(service.port);
  const samples: Sample[] = [];
  for (const isFirst of randomOrder(BLOCKS, seed)) {
    const question = isFirst ? first : second;
    await become(service, question.variant);
    const request = requestTo(service.port, question.path, head);
    for (let done = -SETTLING; done < count / BLOCKS; done++) {
      const tookMs = await connection.time(request);
      if (done >= 0) samples.push({ isFirst, tookMs });
    }
  }
  connection.close();
  return samples;
}
