/** The MQTT exporter: follows the configuration, the players, power and the sleep of the machine, and serves hubs. */
import { randomBytes } from 'node:crypto';
import os from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import type { Media } from '../../commands/media.ts';
import { isSleep, type Power } from '../../commands/power.ts';
import type { SleepInhibitor } from '../../commands/sleep-inhibitor.ts';
import type { Config } from '../../config/config.ts';
import type { History } from '../../history/history.ts';
import { brokerOf } from '../../mqtt/broker-socket.ts';
import { scopesOf } from '../../scopes.ts';
import { BrokerServer, type BrokerServerOptions } from '../../socket/broker/broker-server.ts';
import { topicsOf } from './discovery/topics.ts';
import { Session, type SessionDeps } from './session.ts';

export interface MqttDeps extends SessionDeps {
  readonly media: SessionDeps['media'] & Pick<Media, 'onChange'>;
  readonly history: Pick<History, 'onEvent'>;
  readonly power: SessionDeps['power'] & Pick<Power, 'onChange' | 'onPlan' | 'delays'>;
  readonly inhibitor: SleepInhibitor;
  readonly serve: BrokerServerOptions['serve'];
}

/** Maximum time awake between the notice of a sleep and that of its end; longer means that the second was lost. */
const SLEEP_NOTICE_MS = 60_000;

/** The part of the configuration that a session has. */
const settingsIn = ({ mqtt, hub }: Config) => ({ mqtt, scopes: hub.scopes });

export class MqttExporter {
  readonly #deps: MqttDeps;
  /** For Home Assistant. */
  #session: Session | undefined;
  /** For hubs. */
  #server: BrokerServer | undefined;
  readonly #unlisten: readonly (() => void)[];
  /** When the machine reported that it goes to sleep; undefined: it is awake. */
  #asleepAtMs: number | undefined;
  readonly #run = randomBytes(8).toString('hex');
  #settings: ReturnType<typeof settingsIn> | undefined;
  /** The end of sessions before this one: two with one client id would end each other. */
  #ending: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: MqttDeps) {
    this.#deps = deps;
    const { clock, config, media, power, history } = deps;
    this.#unlisten = [
      media.onChange(() => this.#session?.reports.mediaChanged()),
      power.onChange(() => this.#session?.reports.powerChanged()),
      history.onEvent((event) => this.#session?.sendEvent(event)),
      // After the sessions of hubs, which report the plan first.
      power.onPlan((plan) => {
        this.#asleepAtMs = isSleep(plan) ? clock.now() : undefined;
        this.#session?.link.setAsleep(isSleep(plan));
        // A sleep that is only recorded ends nothing.
        if (config.current.power.backend !== 'record') this.#server?.setAsleep(isSleep(plan));
      }),
    ];
    this.reconfigure();
  }

  /** Another broker, user or topic is another session; the device of the old topics is removed. */
  reconfigure(): void {
    const settings = settingsIn(this.#deps.config.current);
    if (isDeepStrictEqual(settings, this.#settings)) {
      this.#session?.reconfigure();
      return;
    }
    this.#settings = settings;
    this.#ending = this.#ending.then(() => this.#replace(settings));
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const unlisten of this.#unlisten) unlisten();
    await Promise.all([this.#ending, this.#closeSessions(false)]);
  }

  async #closeSessions(forgets: boolean): Promise<void> {
    const ended = [this.#session?.close(forgets), this.#server?.close()];
    this.#session = undefined;
    this.#server = undefined;
    await Promise.all(ended);
  }

  async #replace(settings: ReturnType<typeof settingsIn>): Promise<void> {
    const { mqtt } = settings;
    if (this.#isClosed || mqtt.url === undefined || settings !== this.#settings) return;
    const { discovery } = topicsOf({
      topic: mqtt.topic,
      discoveryPrefix: mqtt.discovery_prefix,
      id: this.#deps.id,
    });
    const { publish } = mqtt;
    const isRetained = publish !== 'hub' && this.#session?.topics.discovery === discovery;
    await this.#closeSessions(!isRetained);
    if (this.#isClosed) return;
    if (publish !== 'hub') {
      this.#session = new Session(this.#deps, mqtt.url, mqtt, this.#deps.inhibitor);
      const isAsleep =
        this.#deps.clock.now() - (this.#asleepAtMs ?? Number.NEGATIVE_INFINITY) < SLEEP_NOTICE_MS;
      if (isAsleep) this.#session.link.setAsleep(true);
    }
    if (publish !== 'homeassistant') this.#server = this.#serveHubs(mqtt.url, settings);
  }

  /** Over a connection of its own, because each has one last will. */
  #serveHubs(url: string, { mqtt, scopes }: ReturnType<typeof settingsIn>): BrokerServer {
    const { id, clock, log, inhibitor, serve, config, facts, random = Math.random } = this.#deps;
    const broker = brokerOf(url, mqtt, id);
    const clientId = mqtt.publish === 'both' ? `${broker.clientId}-hub` : broker.clientId;
    const { name = os.hostname(), labels } = config.current.host;
    return new BrokerServer({
      broker: { ...broker, clientId },
      topic: mqtt.topic,
      id,
      status: { run: this.#run, version: facts.version, name, labels },
      serve,
      scopes: scopesOf([...scopes, 'hub']),
      inhibitor,
      clock,
      log,
      random,
    });
  }
}
