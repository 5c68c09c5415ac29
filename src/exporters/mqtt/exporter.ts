/** The MQTT exporter: follows the configuration, the players, power and the sleep of the machine. */
import { isDeepStrictEqual } from 'node:util';
import type { Power } from '../../commands/power.ts';
import type { SleepInhibitor } from '../../commands/sleep-inhibitor.ts';
import { topicsOf } from './discovery/topics.ts';
import { MachineEvents, type MachineSources } from './machine-events.ts';
import { Session, type SessionDeps } from './session.ts';

export interface MqttDeps extends SessionDeps {
  readonly media: SessionDeps['media'] & MachineSources['media'];
  readonly history: MachineSources['history'];
  readonly power: SessionDeps['power'] & MachineSources['power'] & Pick<Power, 'delays'>;
  readonly inhibitor: SleepInhibitor;
}

export class MqttExporter {
  readonly #deps: MqttDeps;
  readonly #events: MachineEvents<Session>;
  /** For Home Assistant. */
  #session: Session | undefined;
  #settings: unknown;
  /** The end of sessions before this one: two with one client id would end each other. */
  #ending: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: MqttDeps) {
    this.#deps = deps;
    this.#events = new MachineEvents(deps);
    this.reconfigure();
  }

  /** Another broker, user or topic is another session; the device of the old topics is removed. */
  reconfigure(): void {
    const { mqtt } = this.#deps.config.current;
    if (isDeepStrictEqual(mqtt, this.#settings)) {
      for (const session of this.#events.sessions) session.reconfigure();
      return;
    }
    this.#settings = mqtt;
    this.#ending = this.#ending.then(() => this.#replace());
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#events.close();
    await Promise.all([this.#ending, this.#closeSessions(false)]);
  }

  async #closeSessions(forgets: boolean): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#events.sessions.clear();
    await session?.close(forgets);
  }

  async #replace(): Promise<void> {
    const { mqtt } = this.#deps.config.current;
    if (this.#isClosed || mqtt.url === undefined || !isDeepStrictEqual(mqtt, this.#settings)) return;
    const { discovery } = topicsOf({
      topic: mqtt.topic,
      discoveryPrefix: mqtt.discovery_prefix,
      id: this.#deps.id,
    });
    const { publish } = mqtt;
    const isRetained = publish !== 'hub' && this.#session?.topics.discovery === discovery;
    await this.#closeSessions(!isRetained);
    if (this.#isClosed) return;
    // Hubs are served over a connection of their own, because each has one last will: src/socket/broker/serve.ts.
    if (publish === 'hub') return;
    this.#session = new Session(this.#deps, mqtt.url, mqtt, this.#deps.inhibitor);
    this.#events.add(this.#session);
  }
}
