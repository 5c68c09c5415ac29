/** A machine that a test plays by docs/websocket.md alone: hubs are its clients, however they have reached it. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Scope } from '../helpers/scope.ts';

export const RUN = 'run1';

/** The session of a hub: a connection that either side has opened, or one at a broker. */
export interface PlayedCarrier {
  send(text: string | Buffer): void;
  cut(): void;
}

/** A question, or a command (`power.lock`). */
export interface Asked {
  readonly name: string;
  readonly id: string | number;
  readonly params: Readonly<Record<string, unknown>>;
  readonly steps: boolean;
  readonly client: string | undefined;
  readonly key: string | undefined;
  readonly deadline: number | undefined;
  readonly carrier: PlayedCarrier;
}

/** Data of its `answer`; undefined: there is none; 'cut': the connection is reset. */
export type Say = (asked: Asked) => object | undefined | 'cut' | Promise<object | undefined>;

export interface PlayedSession {
  take(text: string): void;
  end(): void;
  wantsSamples(): boolean;
}

interface Message {
  readonly op: string;
  readonly id?: string | number;
  readonly deadline?: number;
  readonly via?: { readonly client: string; readonly key?: string };
  readonly data?: {
    readonly topics?: readonly string[];
    readonly mode?: string;
    readonly detail?: boolean | 'media';
    readonly name?: string;
    readonly params?: Readonly<Record<string, unknown>>;
    readonly steps?: boolean;
  };
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
const EVENTS: Readonly<Record<string, string>> = {
  media: 'media_update',
  power: 'power_update',
  processes: 'process_list',
};

/** An event of the machine, as GET /api/events has it. */
export type PlayedEvent = Readonly<Record<string, unknown>> & {
  readonly id: number;
  readonly subject: string;
  readonly state: string;
};

/** What one hub follows. */
class Follower {
  readonly carrier: PlayedCarrier;
  topics: readonly string[] = [];
  detail: boolean | 'media' = false;
  /** Echoed with the first sample. */
  sampleId: string | number | undefined;

  constructor(carrier: PlayedCarrier) {
    this.carrier = carrier;
  }

  get sections(): readonly string[] {
    const isWanted = (name: string) =>
      ['stats', `stats.${name}`, name].some((each) => this.topics.includes(each));
    return SECTIONS.filter(isWanted);
  }

  /** `cpu,disks detail`; empty: no samples. */
  get words(): string {
    const { sections, detail } = this;
    return sections.length === 0 ? '' : `${sections.join()}${detail === true ? ' detail' : ''}`;
  }
}

export const frameOf = (type: string, data: object, id?: string | number): string =>
  JSON.stringify({ type, id, data });

export const done = (body: object = {}) => ({ body });
export const accepted = (body: object = { status: 'ok' }) => ({ body, follows: true });
export const refused = (code: string, details?: object) => ({
  error: { code, message: 'Not now.', details },
});

export class PlayedMachine {
  readonly #say: Say;
  readonly #followers = new Set<Follower>();
  #server: WebSocketServer | undefined;
  run = RUN;
  /** In `connected`. */
  machine = {
    id: 'played',
    name: 'played',
    labels: {} as Readonly<Record<string, string>>,
    version: '0.9.0',
    os: null as string | null,
    model: null as string | null,
    addresses: [] as readonly string[],
  };
  /** The name of the hub's key, which lets it name its clients. */
  key: string | undefined = 'hub';
  scopes: readonly unknown[] | undefined;
  /** Sent to each hub first; undefined: `connected`. */
  greeting: readonly string[] | undefined;
  /** The samples that hubs asked for, each time that changed: `cpu,disks detail`. */
  readonly queries: string[] = [];
  /** Without those for its events, which every hub asks for. */
  readonly asked: Asked[] = [];
  /** The parameters of the questions for its events. */
  readonly eventsAsked: Asked['params'][] = [];
  readonly events: PlayedEvent[] = [];
  /** The other messages of hubs, but for `ping`. */
  readonly heard: Message[] = [];
  /** Data of the topics media, power and processes, sent to who subscribes to them. */
  readonly states = new Map<string, object>();
  /** Pings, which it answers unless `isAnswering` is false. */
  checks = 0;
  isAnswering = true;
  /** Connections that were opened. */
  connections = 0;
  /** The headers of each upgrade. */
  readonly requests: Readonly<Record<string, unknown>>[] = [];
  port = 0;

  /** `say`: its answer to each request. */
  constructor(say: Say = () => undefined) {
    this.#say = say;
  }

  /** It listens; hubs connect to it. */
  static async start(t: Scope, port = 0, say?: Say): Promise<PlayedMachine> {
    const played = new PlayedMachine(say);
    played.port = port;
    await played.listen();
    t.teardown(() => played.stop());
    return played;
  }

  /** Hubs connect to it again, at the same port. */
  async listen(): Promise<void> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: this.port, path: '/api/ws' });
    this.#server = server;
    server.on('connection', (socket, { headers }) => {
      this.requests.push(headers);
      this.serve(socket);
    });
    await once(server, 'listening');
    // It listens on a port.
    this.port = (server.address() as AddressInfo).port;
  }

  /** Is the service of the session on this socket. */
  serve(socket: WebSocket): void {
    const session = this.begin({
      send: (text) => socket.send(text, { binary: false }),
      cut: () => socket.terminate(),
    });
    socket
      .on('error', () => undefined)
      .on('close', () => session.end())
      .on('message', (data) => session.take(data.toString()));
  }

  /** Begins a session; its frames are taken until its end. */
  begin(carrier: PlayedCarrier): PlayedSession {
    const follower = new Follower(carrier);
    this.connections++;
    this.#followers.add(follower);
    for (const text of this.greeting ?? [frameOf('connected', this.connected)]) carrier.send(text);
    return {
      take: (text) => this.#take(follower, text),
      end: () => void this.#followers.delete(follower),
      wantsSamples: () => follower.words !== '',
    };
  }

  get connected(): object {
    const { run, clock, machine, key, scopes } = this;
    const { version } = machine;
    return { version, protocol: 2, run, clock, machine, features: {}, key, scopes, message: 'Welcome.' };
  }

  get clock(): number {
    return Math.floor(performance.now());
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Connections that are open. */
  get open(): number {
    return this.#followers.size;
  }

  /** 1 while a hub wants samples. */
  get streams(): number {
    return [...this.#followers].some(({ words }) => words !== '') ? 1 : 0;
  }

  /** Requests of this name. */
  at(name: string): readonly Asked[] {
    return this.asked.filter((each) => each.name === name);
  }

  /** Sends this text to every hub. */
  send(text: string | Buffer): void {
    for (const { carrier } of this.#followers) carrier.send(text);
  }

  say(type: string, data: object): void {
    this.send(frameOf(type, data));
  }

  /** Sends a sample with what is wanted to who wants one; sections that `payload` does not have are empty. */
  sample(payload: Readonly<Record<string, unknown>>): void {
    const others = Object.entries(payload).filter(([key]) => !SECTIONS.includes(key));
    for (const follower of this.#followers) {
      const { sections, sampleId, carrier } = follower;
      if (sections.length === 0) continue;
      const wanted = sections.map((name) => [
        name,
        payload[name] === undefined ? EMPTY[name] : payload[name],
      ]);
      follower.sampleId = undefined;
      carrier.send(frameOf('system_stats', Object.fromEntries([...others, ...wanted]), sampleId));
    }
  }

  /** Something begins or ends: sent to who follows its events. */
  happens(subject: string, state: 'begin' | 'end', more: object = {}): void {
    const id = (this.events.at(-1)?.id ?? 1000) + 1;
    const times = { begin: 1_700_000_000, end: state === 'end' ? 1_700_000_060 : null };
    const figures = { value: 91, limit: 90, text: `${subject} is 91, limit 90` };
    const event = {
      machine: 'played',
      kind: 'rule',
      subject,
      severity: 'warning',
      state,
      ...times,
      ...figures,
    };
    this.events.push({ id, ...event, ...more });
    for (const { topics, carrier } of this.#followers)
      if (topics.includes('events')) carrier.send(frameOf('event', { id, ...event, ...more }));
  }

  #listOf({ params }: Asked): object {
    this.eventsAsked.push(params);
    const { since = 0 } = params;
    const ended = (at: number, subject: string) =>
      this.events.slice(at + 1).some((each) => each.subject === subject);
    const open = this.events.filter((each, at) => each.state === 'begin' && !ended(at, each.subject));
    const events = this.events.filter(({ id }) => id > Number(since));
    const last = this.events.at(-1)?.id ?? 1000;
    return done({ last, missing: Number(since) > last, open, mutes: [], events });
  }

  answer({ id, carrier }: Pick<Asked, 'id' | 'carrier'>, data: object): void {
    carrier.send(frameOf('answer', data, id));
  }

  /** How a command goes on after its answer. */
  step({ id, carrier }: Pick<Asked, 'id' | 'carrier'>, stage: string, message = ''): void {
    carrier.send(frameOf('step', { stage, message }, id));
  }

  /** Resets the connections; it continues to listen. */
  cut(): void {
    for (const { carrier } of this.#followers) carrier.cut();
  }

  stop(): void {
    this.#server?.close();
    this.cut();
  }

  #take(follower: Follower, text: string): void {
    const message = JSON.parse(text) as Message; // As the hub sends it.
    const { op, id, data = {} } = message;
    if (op === 'ping') {
      this.checks++;
      if (this.isAnswering) follower.carrier.send(frameOf('pong', { clock: this.clock }, id));
    } else if (op === 'request') this.#request(follower, message);
    else {
      this.heard.push(message);
      if (op === 'subscribe' || op === 'unsubscribe') this.#follow(follower, op, id, data);
    }
  }

  #follow(
    follower: Follower,
    op: 'subscribe' | 'unsubscribe',
    id: string | number | undefined,
    { topics, mode, detail = false }: NonNullable<Message['data']>,
  ): void {
    const { words: before, topics: old } = follower;
    if (op === 'unsubscribe')
      follower.topics = topics === undefined ? [] : old.filter((name) => !topics.includes(name));
    else {
      const isAdded = mode === 'add';
      follower.topics = [...new Set([...(isAdded ? old : []), ...(topics ?? [])])];
      follower.detail = (isAdded && follower.detail) || detail;
      follower.sampleId = id;
    }
    const { words, carrier } = follower;
    if (words !== '' && words !== before) this.queries.push(words);
    carrier.send(frameOf('subscribed', { topics: follower.topics, unknown: [] }, id));
    for (const name of op === 'subscribe' ? (topics ?? []) : []) {
      const state = this.states.get(name);
      const event = EVENTS[name];
      if (state !== undefined && event !== undefined) carrier.send(frameOf(event, state, id));
    }
  }

  #request({ carrier }: Follower, { id = '', deadline, via, data = {} }: Message): void {
    const { name = '', params = {}, steps = false } = data;
    const asked = { name, id, params, steps, client: via?.client, key: via?.key, deadline, carrier };
    if (name === 'events') {
      this.answer(asked, this.#listOf(asked));
      return;
    }
    this.asked.push(asked);
    void this.#reply(asked);
  }

  async #reply(asked: Asked): Promise<void> {
    const answer = await this.#say(asked);
    if (answer === 'cut') this.cut();
    else if (answer !== undefined) this.answer(asked, answer);
  }
}
