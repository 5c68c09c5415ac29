/** A machine that a test plays by docs/hub-protocol.md alone: hubs connect to it. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Scope } from '../helpers/scope.ts';

export const RUN = 'run1';

/** A command, or a question. */
export interface Asked {
  /** `get`, or as `media/play`. */
  readonly name: string;
  readonly hub: string;
  readonly id: string;
  readonly client: string;
  readonly key: string | null;
  readonly what?: string;
  readonly run?: string;
  readonly deadline?: number;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Members of the feedback; undefined: there is none; 'cut': the connection is reset. */
export type Say = (asked: Asked) => object | undefined | 'cut' | Promise<object | undefined>;

interface Want {
  readonly sections?: readonly string[];
  readonly detail?: readonly string[];
  readonly topics?: readonly string[];
}

/** The value of a section that a sample of a test does not have. */
export const EMPTY: Readonly<Record<string, unknown>> = {
  cpu: { current_load: 0, current_temp: 0, current_speed: 0 },
  memory: { used: 0, free: 0, used_percent: 0 },
  gpu: null,
  disks: [],
  network: { bytesRecv: 0, bytesSent: 0 },
};
const SECTIONS = Object.keys(EMPTY);

const wordsOf = ({ sections = [], detail }: Want) =>
  [sections.join(), ...(detail === undefined ? [] : [`detail=${detail.join()}`])].filter(Boolean).join(' ');

export const done = (result: object = {}) => ({ stage: 'done', success: true, message: 'Done', result });
export const refused = (code: string, details?: object) => ({
  stage: 'refused',
  success: false,
  message: 'Not now.',
  code,
  details,
});

export class PlayedAgent {
  readonly #server: WebSocketServer;
  readonly #say: Say;
  readonly #sockets = new Set<WebSocket>();
  #want: Want = {};
  /** The samples that hubs asked for, each time that changed: `cpu,disks detail=cpu`. */
  readonly queries: string[] = [];
  /** The requests received, except those for its clock. */
  readonly asked: Asked[] = [];
  /** Questions for its clock, which it answers unless this is false. */
  checks = 0;
  isAnswering = true;
  /** Connections that were opened. */
  connections = 0;
  /** The headers of each upgrade. */
  readonly requests: Readonly<Record<string, unknown>>[] = [];
  /** Messages that it sends when a hub has connected. */
  greeting: readonly string[] = [`status\n${JSON.stringify({ state: 'online', run: RUN, name: 'played' })}`];
  port = 0;

  private constructor(server: WebSocketServer, say: Say) {
    this.#server = server;
    this.#say = say;
    server.on('connection', (socket, { headers }) => {
      this.connections++;
      this.requests.push(headers);
      this.#sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          this.#sockets.delete(socket);
          this.#want = {};
        })
        .on('message', (data) => this.#take(data.toString()));
      for (const text of this.greeting) socket.send(text);
    });
  }

  /** `say`: its answer to each command and question but `clock`. */
  static async start(t: Scope, port = 0, say: Say = () => undefined): Promise<PlayedAgent> {
    const server = new WebSocketServer({ host: '127.0.0.1', port });
    const agent = new PlayedAgent(server, say);
    await once(server, 'listening');
    // It listens on a port.
    agent.port = (server.address() as AddressInfo).port;
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

  /** 1 while a hub wants samples. */
  get streams(): number {
    return wordsOf(this.#want) === '' ? 0 : 1;
  }

  /** Commands of this name (`power/lock`), or questions (`get`). */
  at(name: string): readonly Asked[] {
    return this.asked.filter((each) => each.name === name);
  }

  /** Sends this text to every hub. */
  send(text: string | Buffer): void {
    for (const socket of this.#sockets) socket.send(text, { binary: false });
  }

  say(topic: string, payload: object): void {
    this.send(`${topic}\n${JSON.stringify(payload)}`);
  }

  /** Sends a sample with what is wanted; sections that `payload` does not have are empty. */
  sample(payload: Readonly<Record<string, unknown>>): void {
    const { sections = [], detail } = this.#want;
    const member = ([key, value]: readonly [string, unknown]) =>
      `${JSON.stringify(key)}:${JSON.stringify(value)}`;
    const begin = Object.entries(payload).filter(([key]) => !SECTIONS.includes(key));
    const lineOf = (name: string) =>
      member([name, payload[name] === undefined ? EMPTY[name] : payload[name]]);
    this.lines(
      [
        begin.map(member).join(),
        ...sections.map(lineOf),
        ...(detail === undefined ? [] : ['', ...detail.map(lineOf)]),
      ],
      { plain: sections, ...(detail && { detail }) },
    );
  }

  /** Sends these lines as a sample; `head`: beside the clock. */
  lines(lines: readonly (string | Buffer)[], head: object): void {
    const full = { v: 1, run: RUN, clock: performance.now(), n: 0, ...head };
    const parts = [`sample\n${JSON.stringify(full)}`, ...lines].flatMap((line, at) =>
      at === 0 ? [Buffer.from(line)] : [Buffer.from('\n'), Buffer.from(line)],
    );
    this.send(Buffer.concat(parts));
  }

  answer({ id, hub }: Pick<Asked, 'id' | 'hub'>, more: object): void {
    const clock = { run: RUN, clock: Math.floor(performance.now()) };
    this.say(`feedback/${hub}`, { command: 'x', id, ...clock, ...more });
  }

  /** Resets the connections; it continues to listen. */
  cut(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  stop(): void {
    this.#server.close();
    this.cut();
  }

  #take(text: string): void {
    const end = text.indexOf('\n');
    const topic = text.slice(0, end);
    const payload: unknown = JSON.parse(text.slice(end + 1));
    if (topic === 'want') {
      const before = wordsOf(this.#want);
      this.#want = payload as Want; // As the hub sends it.
      const words = wordsOf(this.#want);
      if (words !== '' && words !== before) this.queries.push(words);
      return;
    }
    const asked = { ...(payload as Asked), name: topic.slice('cmd/'.length) };
    if (asked.what === 'clock') {
      this.checks++;
      if (this.isAnswering) this.answer(asked, done());
    } else {
      this.asked.push(asked);
      void this.#reply(asked);
    }
  }

  async #reply(asked: Asked): Promise<void> {
    const answer = await this.#say(asked);
    if (answer === 'cut') this.cut();
    else if (answer !== undefined) this.answer(asked, answer);
  }
}
