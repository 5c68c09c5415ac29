/** Hubs and machines at a real broker, and machines there that a test plays. */
import mqtt from 'mqtt';
import type { Test } from 'tap';
import type { BrokerEntry } from '#src/config/rows/mqtt-rows.js';
import {
  type Broker,
  type BrokerPlace,
  mqttPart,
  NO_BROKER,
  NO_NATS,
  natsKind,
  startBeside,
  startBroker,
} from '../../exporters/mqtt/broker.ts';
import type { ConfigPart } from '../../helpers/fakes/config-parts.ts';
import type { Scope } from '../../helpers/scope.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { PlayedMachine, type PlayedSession } from '../played-machine.ts';
import { type StartedHub, startHub } from '../setup.ts';
import { endOf, Joiner, payloadOf, readPayload } from './frames.ts';

type HubPart = NonNullable<ConfigPart['hub']>;
type Times = Parameters<typeof startHub>[3];

export const EVERYTHING: HubPart = { commands: { all: { commands: ['*'], labels: {} } } };

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

type Judge = (t: Test, broker: Broker) => Promise<void>;

/** Tests `judge` with each broker; its name follows the ids of the test. */
export function testBrokers(t: Test, title: string, judge: Judge): void {
  for (const { name, skip, start } of BROKERS)
    t.test(title.replace(/^((?:\[[^\]]*\] )+)/, `$1${name}: `), { skip }, async (t) =>
      judge(t, await start(t)),
    );
}

/** Tests `judge` with mosquitto alone, where brokers make no difference. */
export function testMosquitto(t: Test, title: string, judge: Judge): void {
  const [{ skip, start }] = BROKERS;
  t.test(title, { skip }, async (t) => judge(t, await start(t)));
}

/** `keys`: beside its url; the name of the hub is its user, if it has one. */
export const brokerPart = (url: string, hub: HubPart = {}, keys: Partial<BrokerEntry> = {}): ConfigPart => ({
  hub: {
    ...hub,
    brokers: {
      room: { topic: 'hostwire', url, ...(keys.username === undefined && { name: 'hub1' }), ...keys },
    },
  },
});

/** `hub`: further keys of `hub`, but for `brokers`. */
export const startBrokerHub = async (
  t: Scope,
  url: string,
  hub: HubPart = {},
  times: Times = {},
): Promise<StartedHub> => await startHub(t, {}, brokerPart(url, hub), times);

/** The key `mqtt` of a machine whose hubs are at this broker. */
export const machinePart = (broker: Broker, more: Parameters<typeof mqttPart>[1] = {}) =>
  mqttPart(broker.url, { publish: 'hub', ...more });

export const startMachine = (
  t: Parameters<typeof startBeside>[0],
  broker: Broker,
  more: Parameters<typeof startBeside>[1] = {},
  options: Parameters<typeof startBeside>[2] = {},
) => startBeside(t, { mqtt: machinePart(broker), stats: { stream_interval_seconds: 1 }, ...more }, options);

interface Session extends PlayedSession {
  readonly joiner: Joiner;
}

/** A machine that a test plays at a broker, with a last will: each hub has a session. */
export class BrokerMachine {
  readonly client: mqtt.MqttClient;
  readonly machine: PlayedMachine;
  readonly base: string;
  readonly #sessions = new Map<string, Session>();
  /** The names of the hubs that have wanted samples. */
  readonly wanting = new Set<string>();

  private constructor(url: string, id: string, machine: PlayedMachine) {
    this.base = `hostwire/${id}`;
    this.machine = machine;
    this.client = mqtt.connect(url, {
      protocolVersion: 4,
      clientId: `played-${id}`,
      reconnectPeriod: 0,
      queueQoSZero: false,
      will: { topic: `${this.base}/status`, payload: this.#status('offline'), qos: 1, retain: true },
    });
    this.client.on('error', () => undefined);
    this.client.on('message', (topic, payload) => this.#take(topic.split('/').at(-1) ?? '', payload));
  }

  static async start(
    t: Scope,
    url: string,
    id: string,
    machine = new PlayedMachine(),
  ): Promise<BrokerMachine> {
    const played = new BrokerMachine(url, id, machine);
    t.teardown(() => played.client.end(true));
    await played.client.subscribeAsync(`${played.base}/in/+`, { qos: 0 });
    await played.status('online');
    return played;
  }

  /** Publishes its state; an empty one clears it away. */
  async status(state: string, more: object = {}): Promise<void> {
    const text = state === '' ? '' : this.#status(state, more);
    await this.client.publishAsync(`${this.base}/status`, text, { qos: 1, retain: true });
  }

  /** Publishes this payload to a hub. */
  async raw(payload: string | Buffer, hub = 'hub1'): Promise<void> {
    await this.client.publishAsync(`${this.base}/out/${hub}`, payload, { qos: 0 });
  }

  get sessions(): readonly string[] {
    return [...this.#sessions.values()].map(({ joiner }) => joiner.session);
  }

  /** Ends without a farewell. */
  cut(): void {
    this.client.stream.destroy();
  }

  #status(state: string, more: object = {}): string {
    const { run, machine } = this.machine;
    const { name, labels, version } = machine;
    return JSON.stringify({ state, run, name, labels, version, ...more });
  }

  #take(hub: string, bytes: Buffer): void {
    const payload = readPayload(bytes);
    if (payload === undefined) return;
    const { session, number } = payload;
    if (number === 0 && payload.bytes.length === 0) this.#open(hub, session);
    const known = this.#sessions.get(hub);
    if (known?.joiner.session !== session) return;
    const frame = number === undefined ? 'gap' : known.joiner.take(payload);
    if (frame === 'gap') this.#end(hub, known);
    else if (frame !== undefined && frame.length > 0) known.take(frame.toString());
    if (known.wantsSamples()) this.wanting.add(hub);
  }

  #open(hub: string, session: string): void {
    const before = this.#sessions.get(hub);
    if (before !== undefined) this.#end(hub, before);
    let sent = 0;
    const publish = (payload: Buffer | string) =>
      this.client.publish(`${this.base}/out/${hub}`, payload, { qos: 0 });
    const opened = this.machine.begin({
      send: (text) => publish(payloadOf(session, sent++, text)),
      cut: () => {
        publish(endOf(session));
        const known = this.#sessions.get(hub);
        if (known?.joiner.session === session) this.#end(hub, known);
      },
    });
    this.#sessions.set(hub, { joiner: new Joiner(session), ...opened });
  }

  #end(hub: string, session: Session): void {
    this.#sessions.delete(hub);
    session.end();
  }
}
