/** A hub in front of a real broker, and agents that a test plays. */
import mqtt from 'mqtt';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import type { ConfigPart } from '../../helpers/fakes/config-parts.ts';
import type { Scope } from '../../helpers/scope.ts';
import { type StartedHub, startHub } from '../../hub/setup.ts';

type HubPart = NonNullable<ConfigPart['hub']>;
type Times = Parameters<typeof startHub>[3];

export const EVERYTHING: HubPart = { commands: { all: { commands: ['*'], labels: {} } } };

/** `mqtt`: beside url and name. */
export const brokerPart = (
  url: string,
  hub: HubPart = {},
  mqttPart: Partial<NonNullable<HubPart['mqtt']>> = {},
): ConfigPart => ({
  hub: { ...hub, mqtt: { ...DEFAULT_CONFIG.hub.mqtt, url, name: 'hub1', ...mqttPart } },
});

/** `hub`: further keys of `hub`, but for `mqtt`. */
export const startBrokerHub = async (
  t: Scope,
  url: string,
  hub: HubPart = {},
  times: Times = {},
): Promise<StartedHub> => await startHub(t, {}, brokerPart(url, hub), times);

/** An agent that a test plays, with a last will. */
export class PlayedAgent {
  readonly client: mqtt.MqttClient;
  readonly #base: string;
  /** The leases and the questions of hubs. */
  readonly wants: string[] = [];
  readonly asked: {
    readonly topic: string;
    readonly hub: string;
    readonly id: string;
    readonly run?: string;
    readonly what?: string;
  }[] = [];
  readonly run: string;
  /** Answers questions for its clock. */
  isAnswering = true;
  /** Answers to other questions. */
  readonly results = new Map<string, object>();

  private constructor(url: string, id: string, run: string) {
    this.#base = `hostwire/${id}/hub`;
    this.run = run;
    this.client = mqtt.connect(url, {
      protocolVersion: 4,
      clientId: `played-${id}`,
      reconnectPeriod: 0,
      queueQoSZero: false,
      will: { topic: `${this.#base}/status`, payload: this.#state('offline'), qos: 1, retain: true },
    });
    this.client.on('error', () => undefined);
    this.client.on('message', (topic, payload) => this.#take(topic, payload.toString()));
  }

  static async start(t: Scope, url: string, id: string, run = 'run1'): Promise<PlayedAgent> {
    const agent = new PlayedAgent(url, id, run);
    t.teardown(() => agent.client.end(true));
    await agent.client.subscribeAsync([`${agent.#base}/want`, `${agent.#base}/cmd/#`], { qos: 0 });
    await agent.say('status', agent.#state('online'), true);
    return agent;
  }

  async say(end: string, payload: string | object, retain = false): Promise<void> {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    await this.client.publishAsync(`${this.#base}/${end}`, text, { qos: 1, retain });
  }

  /** A sample with these lines; `head` beside what every head has. */
  async sample(lines: readonly string[], head: object = {}): Promise<void> {
    const full = { v: 1, run: this.run, clock: performance.now(), n: 0, plain: ['cpu'], ...head };
    await this.say('sample', [JSON.stringify(full), ...lines].join('\n'));
  }

  async answer(id: string, more: object, hub = 'hub1'): Promise<void> {
    const clock = { run: this.run, clock: performance.now() };
    await this.say(`feedback/${hub}`, {
      command: 'x',
      id,
      success: true,
      message: 'Done',
      ...clock,
      ...more,
    });
  }

  /** Ends without a farewell. */
  cut(): void {
    this.client.stream.destroy();
  }

  #state(state: string): string {
    return JSON.stringify({ state, run: this.run });
  }

  #take(topic: string, text: string): void {
    if (topic.endsWith('/want')) {
      this.wants.push(text);
      return;
    }
    const message = JSON.parse(text); // As the hub sends it.
    this.asked.push({ ...message, topic });
    const result = this.results.get(message.what);
    if (result !== undefined) void this.answer(message.id, { stage: 'done', result });
    if (message.what === 'clock' && this.isAnswering)
      void this.answer(message.id, { stage: 'done', result: {} }, message.hub);
  }
}
