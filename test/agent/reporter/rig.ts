/** A hub of a test: its leases, commands and questions over a real broker, by docs/hub-protocol.md alone. */
import mqtt, { type IClientOptions } from 'mqtt';
import type { Test as TapTest } from 'tap';
import {
  BASE,
  type Broker,
  type BrokerPlace,
  mqttPart,
  NO_BROKER,
  NO_NATS,
  natsKind,
  startBeside,
  startBroker,
} from '../../exporters/mqtt/broker.ts';
import { type FakeClock, settle } from '../../helpers/fakes/clock.ts';
import type { Scope } from '../../helpers/scope.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { until } from '../../helpers/until.ts';

export const HUB = `${BASE}/hub`;
export const hubCommand = (name: string) => `${HUB}/cmd/${name.replace('.', '/')}`;

/** Both brokers, each with its own way to say who may do what. */
export const BROKERS = [
  {
    name: 'mosquitto',
    skip: NO_BROKER,
    start: async (t: Scope, place?: BrokerPlace) =>
      await startBroker(t, undefined, undefined, undefined, place),
  },
  {
    name: 'nats-server',
    skip: NO_NATS,
    start: async (t: Scope, place?: BrokerPlace) =>
      await startBroker(t, [], undefined, natsKind(await findFreePort()), place),
  },
] as const;

type Judge = (t: TapTest, broker: Broker) => Promise<void>;

/** Tests `judge` with each broker; its name follows the ids of the test. */
export function testBrokers(t: TapTest, title: string, judge: Judge): void {
  for (const { name, skip, start } of BROKERS)
    t.test(title.replace(/^((?:\[[^\]]*\] )+)/, `$1${name}: `), { skip }, async (t) =>
      judge(t, await start(t)),
    );
}

/** Tests `judge` with mosquitto alone, where brokers make no difference. */
export function testMosquitto(t: TapTest, title: string, judge: Judge): void {
  const [{ skip, start }] = BROKERS;
  t.test(title, { skip }, async (t) => judge(t, await start(t)));
}

export const hubPart = (broker: Broker, more: Parameters<typeof mqttPart>[1] = {}) =>
  mqttPart(broker.url, { publish: 'hub', ...more });

export const startAgent = (
  t: Parameters<typeof startBeside>[0],
  broker: Broker,
  more: Parameters<typeof startBeside>[1] = {},
  options: Parameters<typeof startBeside>[2] = {},
) => startBeside(t, { mqtt: hubPart(broker), stats: { stream_interval_seconds: 1 }, ...more }, options);

/**
 * Moves the clock of an agent until something is true. Each step waits until what was sent in it has arrived, so that the clock
 * runs no further than it must: leases end by it.
 */
export async function advanceUntil(
  clock: FakeClock,
  hub: TestHub,
  isTrue: () => boolean,
  what: string,
): Promise<void> {
  for (let step = 0; !isTrue(); step++) {
    if (step === 2000) throw new Error(`not within ${step} steps: ${what}`);
    await clock.advance(20);
    await hub.ask('clock');
  }
}

/** The agent is online; one that asks for another version of MQTT does so by its own clock. */
export async function untilOnline(hub: TestHub, clock: FakeClock): Promise<void> {
  const isOnline = () => hub.state === 'online';
  await until(() => {
    if (!isOnline()) void clock.advance(20);
    return isOnline();
  }, 'online');
  // The last step has ended.
  await settle();
  await settle();
}

export interface Answer {
  readonly command: string;
  readonly id: string;
  readonly stage: string;
  readonly success: boolean;
  readonly message: string;
  readonly code?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly run: string;
  readonly clock: number;
}

/** The lines of a sample, by what they are. */
export class SampleLines {
  readonly head: {
    readonly run: string;
    readonly clock: number;
    readonly n: number;
    readonly plain: readonly string[];
    readonly detail?: readonly string[];
  };
  readonly #common: string;
  readonly #extras: string | undefined;
  readonly #plain = new Map<string, string>();
  readonly #detail = new Map<string, string>();

  constructor(payload: string) {
    const [head = '', common = '', ...lines] = payload.split('\n');
    this.head = JSON.parse(head);
    this.#common = common;
    for (const name of this.head.plain) this.#plain.set(name, lines.shift() ?? '');
    if (this.head.detail !== undefined) this.#extras = lines.shift();
    for (const name of this.head.detail ?? []) this.#detail.set(name, lines.shift() ?? '');
  }

  /** A payload as the single service sends it, made without parsing; undefined: not all of it is there. */
  join(sections: readonly string[], withDetail: boolean): string | undefined {
    const from = withDetail ? this.#detail : this.#plain;
    const lines = sections.map((name) => from.get(name));
    if (lines.includes(undefined) || (withDetail && this.#extras === undefined)) return undefined;
    const extras = withDetail && this.#extras !== '' ? [this.#extras] : [];
    return `{${[this.#common, ...extras, ...lines].join(',')}}`;
  }
}

export class TestHub {
  readonly client: mqtt.MqttClient;
  readonly name: string;
  readonly samples: SampleLines[] = [];
  readonly answers: Answer[] = [];
  readonly heard: { readonly topic: string; readonly text: string; readonly isRetained: boolean }[] = [];
  /** The run of the agent, and how far its clock is ahead of ours at least. */
  run = '';
  #ahead = Number.NEGATIVE_INFINITY;
  #count = 0;

  private constructor(url: string, name: string, options: IClientOptions) {
    this.name = name;
    this.client = mqtt.connect(url, {
      protocolVersion: 4,
      clientId: name,
      reconnectPeriod: 200,
      queueQoSZero: false,
      ...options,
    });
    this.client.on('error', () => undefined);
    this.client.on('message', (topic, payload, { retain }) => this.#take(topic, payload.toString(), retain));
  }

  static async open(t: Scope, url: string, name = 'hub1', options: IClientOptions = {}): Promise<TestHub> {
    const hub = new TestHub(url, name, options);
    t.teardown(() => hub.client.end(true));
    const topics = ['status', 'sample', 'media', 'power', 'event', `feedback/${name}`].map(
      (end) => `hostwire/+/hub/${end}`,
    );
    await hub.client.subscribeAsync(topics, { qos: 0 });
    return hub;
  }

  on(topic: string): readonly string[] {
    return this.heard.filter((each) => each.topic === topic).map(({ text }) => text);
  }

  get state(): string | undefined {
    const last = this.on(`${HUB}/status`).at(-1);
    return last === undefined ? undefined : JSON.parse(last).state;
  }

  async want(more: object): Promise<void> {
    await this.say(`${HUB}/want`, { hub: this.name, ...more });
  }

  async say(
    topic: string,
    payload: object | string,
    options: mqtt.IClientPublishOptions = {},
  ): Promise<void> {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    await this.client.publishAsync(topic, text, { qos: 0, ...options });
  }

  /** The agent's clock as far as it is known: never ahead of it. */
  get agentClock(): number {
    return performance.now() + this.#ahead;
  }

  nextId(): string {
    return `${this.name}-${++this.#count}`;
  }

  /** Returns the fields of a command, unless `more` replaces them. */
  envelope(params: object, more: object = {}) {
    const who = { hub: this.name, client: '192.0.2.7', key: 'default' };
    return { ...who, id: this.nextId(), run: this.run, deadline: this.agentClock + 25_000, params, ...more };
  }

  /** Sends a command; resolves with the first answer to it. */
  async command(name: string, params: object = {}, more: object = {}): Promise<Answer> {
    const envelope = this.envelope(params, more);
    const before = this.answers.length;
    await this.say(hubCommand(name), envelope, { qos: 1 });
    return await this.#answerTo(envelope.id, before, name);
  }

  /** Asks without waiting for the answer. */
  async poke(): Promise<void> {
    await this.say(`${HUB}/cmd/get`, { ...this.envelope({}), what: 'clock' }).catch(() => undefined);
  }

  async ask(what: string, params: object = {}): Promise<Answer> {
    const envelope = { ...this.envelope(params), what };
    const before = this.answers.length;
    await this.say(`${HUB}/cmd/get`, envelope);
    return await this.#answerTo(envelope.id, before, what);
  }

  async #answerTo(id: string, from: number, what: string): Promise<Answer> {
    const find = () => this.answers.slice(from).find((answer) => answer.id === id);
    await until(() => find() !== undefined, `an answer to ${what}`);
    const found = find();
    if (found === undefined) throw new Error('it was there');
    return found;
  }

  #take(topic: string, text: string, isRetained: boolean): void {
    this.heard.push({ topic, text, isRetained });
    if (topic === `${HUB}/sample`) {
      const lines = new SampleLines(text);
      this.samples.push(lines);
      this.#learn(lines.head);
    } else if (topic === `${HUB}/feedback/${this.name}`) {
      const answer = JSON.parse(text) as Answer; // As the protocol has it.
      this.answers.push(answer);
      this.#learn(answer);
    }
  }

  #learn({ run, clock }: { readonly run: string; readonly clock: number }): void {
    if (run !== this.run) this.#ahead = Number.NEGATIVE_INFINITY;
    this.run = run;
    this.#ahead = Math.max(this.#ahead, clock - performance.now());
  }
}
