/** Clients that behave well, as browsers, scrapers and scripts do, with an account of what was refused to them. */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { Refused, SocketClient } from '../helpers/clients/socket.ts';
import { PATIENCE_MS } from '../helpers/limits.ts';

export interface Target {
  readonly port: number;
  /** The path of the page: below `/pc/` behind some proxies. */
  readonly where?: string;
  /** Default: the address and the port. */
  readonly host?: string;
}

/**
 * The end of a connection: `kept` for the next request, closed by the service because the client asks for that (`closing`),
 * or left by the client after the answer, as curl does (`leaving`).
 */
export type Connections = 'kept' | 'closing' | 'leaving';

/** The time stamps of the samples that the service has sent to anybody, by view. */
export type Published = Map<string, Set<number>>;

export class Account {
  answered = 0;
  events = 0;
  /** Samples that a viewer did not get, although others did. */
  missing = 0;
  /** Answers other than 200, and connections that ended early; with how often. */
  readonly refused = new Map<string, number>();

  refuse(what: string): void {
    this.refused.set(what, (this.refused.get(what) ?? 0) + 1);
  }

  /** All of what must not be. */
  get faults(): Readonly<Record<string, number>> {
    const missing = this.missing > 0 ? { 'events missing': this.missing } : {};
    return { ...Object.fromEntries(this.refused), ...missing };
  }
}

/** A viewer leaves before its first event only when that has not arrived after this time. */
const FIRST_EVENT_MS = 20_000;

/** Follows the samples over a stream or a WebSocket. */
class Viewer {
  readonly #name: string;
  readonly #account: Account;
  readonly #published: Set<number>;
  readonly #own = new Set<number>();
  #first: number | undefined;
  #hasLeft = false;
  #isOver = false;
  #hear: () => void = () => undefined;
  readonly #heard = new Promise<void>((resolve) => {
    this.#hear = resolve;
  });
  cut: () => void = () => undefined;

  constructor(name: string, account: Account, published: Published) {
    this.#name = name;
    this.#account = account;
    this.#published = published.get(name) ?? new Set();
    published.set(name, this.#published);
  }

  take(stamp: number): void {
    if (this.#hasLeft) return;
    this.#own.add(stamp);
    this.#account.events++;
    // The first one may be a reading between two samples, in place of the next.
    if (this.#first === undefined) this.#first = stamp;
    else this.#published.add(stamp);
    this.#hear();
  }

  /** The connection has ended or was refused. */
  end(why: string): void {
    if (!this.#hasLeft && !this.#isOver) this.#account.refuse(`${this.#name}: ${why}`);
    this.#isOver = true;
    this.#hear();
  }

  async leave(): Promise<void> {
    await Promise.race([this.#heard, sleep(FIRST_EVENT_MS, undefined, { ref: false })]);
    if (this.#first === undefined) this.end('no event');
    this.#hasLeft = true;
    this.cut();
    const newest = Math.max(...this.#published);
    const since = (this.#first ?? newest) + DEFAULT_CONFIG.stats.stream_interval_seconds;
    for (const stamp of this.#published)
      if (stamp > since && stamp < newest && !this.#own.has(stamp)) this.#account.missing++;
  }
}

/** The requests of the page after its files, beside the stream; web/visit.ts, web/past.ts, web/live.ts and the cards. */
const CHARTS = 'cpu.load,memory.used_percent,memory.swap_percent,disk.read/*,disk.write/*,network.receive';
const PAGE_CALLS = [
  `api/history?series=${encodeURIComponent(CHARTS)}&since=-300&step=1`,
  'api/history?series=cpu.load&since=-3600&step=3600',
  'api/system?detail=1',
  'api/media/status?detail=1',
  'api/pw',
];
const POLLS = [
  ['api/media/status?detail=1', 2000],
  ['api/pw', 10_000],
] as const;

const BROWSER = { 'Accept-Encoding': 'gzip, deflate, br', 'Sec-Fetch-Site': 'same-origin' };
const NAVIGATION = { Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Site': 'none' };

type Headers = Readonly<Record<string, string>>;

const textOf = ({ headers }: http.IncomingMessage, body: Buffer): string =>
  String(headers['content-encoding'] === 'br' ? brotliDecompressSync(body) : body);

export class Client {
  readonly #target: Target;
  readonly #account: Account;
  readonly #published: Published;
  readonly #headers: Headers;
  readonly #from: string;
  readonly #agent: http.Agent | false;

  constructor(
    target: Target,
    account: Account,
    published: Published,
    {
      connections = 'kept',
      from = '127.0.0.1',
      headers = {},
    }: {
      readonly connections?: Connections;
      readonly from?: string;
      readonly headers?: Headers;
    },
  ) {
    this.#target = target;
    this.#account = account;
    this.#published = published;
    this.#from = from;
    this.#headers = { Host: target.host ?? `127.0.0.1:${target.port}`, ...headers };
    if (connections === 'leaving') this.#headers = { ...this.#headers, Connection: 'keep-alive' };
    // As many as a browser opens to one site.
    this.#agent = connections === 'kept' && new http.Agent({ keepAlive: true, maxSockets: 6 });
  }

  #options(path: string, headers: Headers): http.RequestOptions {
    return {
      host: '127.0.0.1',
      port: this.#target.port,
      localAddress: this.#from,
      path: `${this.#target.where ?? '/'}${path}`,
      headers: { ...this.#headers, ...headers },
    };
  }

  /** Returns the body; empty where it was refused. `path`: without the first slash. */
  async get(path: string, headers: Headers = {}, isAgain = false): Promise<string> {
    const options = { ...this.#options(path, headers), agent: this.#agent, timeout: PATIENCE_MS };
    const request = http.get(options);
    const outcome = await new Promise<string | Error>((resolve) => {
      request.once('timeout', () => request.destroy(new Error('no answer')));
      request.once('error', resolve);
      request.once('response', (answer: http.IncomingMessage) => {
        const parts: Buffer[] = [];
        const isGood = answer.statusCode === 200;
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.once('error', resolve);
        answer.once('end', () =>
          resolve(isGood ? textOf(answer, Buffer.concat(parts)) : new Error(`${answer.statusCode}`)),
        );
      });
    });
    if (typeof outcome === 'string') {
      this.#account.answered++;
      return outcome;
    }
    // As browsers do: the connection had been idle, and ended while the request was on its way.
    const isStale = request.reusedSocket && 'code' in outcome && outcome.code === 'ECONNRESET';
    if (isStale && !isAgain) return await this.get(path, headers, true);
    this.#account.refuse(`/${path.replace(/\?.*/, '')}: ${outcome.message}`);
    return '';
  }

  /** Follows the samples until the viewer leaves. */
  follow(path: 'api/stream' | 'api/stream?detail=1' = 'api/stream'): Viewer {
    const viewer = new Viewer(path, this.#account, this.#published);
    const options = { ...this.#options(path, { Connection: 'keep-alive' }), agent: false };
    const request = http.get(options, (answer) => {
      if (answer.statusCode !== 200) viewer.end(`${answer.statusCode}`);
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        const end = text.lastIndexOf('\n\n');
        for (const [, stamp] of text.slice(0, end + 1).matchAll(/^data: \{"timestamp":(\d+)/gm))
          viewer.take(Number(stamp));
        text = text.slice(end + 1);
      });
      answer.once('error', (error) => viewer.end(error.message));
      answer.once('end', () => viewer.end('closed'));
    });
    request.once('error', (error) => viewer.end(error.message));
    viewer.cut = () => request.destroy();
    return viewer;
  }

  /** The same over a WebSocket. */
  async followSocket(): Promise<Viewer> {
    const viewer = new Viewer('api/ws', this.#account, this.#published);
    const { port, where = '/' } = this.#target;
    const options = { path: `${where}api/ws`, from: this.#from, headers: this.#headers };
    try {
      const socket = await SocketClient.open(port, options);
      socket.ws.on('message', (bytes: Buffer) => {
        const stamp = /^\{"type":"system_stats".*?"timestamp":(\d+)/.exec(bytes.toString('latin1'))?.[1];
        if (stamp !== undefined) viewer.take(Number(stamp));
      });
      void socket.closed.then(({ code }) => viewer.end(`closed with ${code}`));
      socket.say('subscribe', { topics: ['stats'] });
      viewer.cut = () => socket.cut();
    } catch (error) {
      viewer.end(error instanceof Refused ? `${error.status}` : String(error));
    }
    return viewer;
  }

  /** Loads the files of the page, as a browser does without a cache. */
  async loadFiles(): Promise<void> {
    const page = await this.get('', { ...BROWSER, ...NAVIGATION });
    const files = [...page.matchAll(/(?:href|src)="([^"]+\.(?:js|css|svg))"/g)];
    await Promise.all(files.map(([, file = '']) => this.get(file, BROWSER)));
  }

  /** Does what the open page does, for `forMs`. */
  async showPage(forMs: number): Promise<void> {
    const ended = AbortSignal.timeout(Math.round(forMs));
    await this.get('api/access', BROWSER);
    const viewer = this.follow('api/stream?detail=1');
    await Promise.all(PAGE_CALLS.map((path) => this.get(path, BROWSER)));
    const poll = async (path: string, everyMs: number) => {
      while (await sleep(everyMs, true, { signal: ended }).catch(() => false)) await this.get(path, BROWSER);
    };
    await Promise.all(POLLS.map(([path, everyMs]) => poll(path, everyMs)));
    await viewer.leave();
    this.end();
  }

  async showSocket(forMs: number): Promise<void> {
    const viewer = await this.followSocket();
    await sleep(forMs);
    await viewer.leave();
  }

  /** Ends the connections that are kept. */
  end(): void {
    if (this.#agent !== false) this.#agent.destroy();
  }
}
