/** The MQTT exporter: follows the configuration, the players, power and the sleep of the machine. */
import { isDeepStrictEqual } from 'node:util';
import type { Power } from '../../commands/power.ts';
import { topicsOf } from './discovery/topics.ts';
import { MachineEvents, type MachineSources } from './hub/machine-events.ts';
import { overBroker } from './hub/over-broker.ts';
import { HubSession, type HubSessionRooms } from './hub/session.ts';
import { type BrokerKeys, brokerOf } from './link/broker.ts';
import type { Connection } from './link/connection.ts';
import type { LinkOptions } from './link/link.ts';
import { type MqttLink, openMqttLink } from './link/mqtt-link.ts';
import type { SleepHold } from './link/sleep-hold.ts';
import { Session, type SessionRooms } from './session.ts';

export interface MqttParts extends SessionRooms, HubSessionRooms {
  readonly config: SessionRooms['config'];
  readonly sampler: HubSessionRooms['sampler'];
  readonly commands: SessionRooms['commands'];
  readonly media: SessionRooms['media'] & MachineSources['media'];
  readonly history: HubSessionRooms['history'] & MachineSources['history'];
  readonly power: SessionRooms['power'] & MachineSources['power'] & Pick<Power, 'delays'>;
  readonly holds: SleepHold;
}

export class MqttExporter {
  readonly #parts: MqttParts;
  readonly #events: MachineEvents<Session | HubSession>;
  /** For Home Assistant. */
  #session: Session | undefined;
  #hubSession: HubSession | undefined;
  #settings: unknown;
  /** The end of sessions before this one: two with one client id would end each other. */
  #ending: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: MqttParts) {
    this.#parts = parts;
    this.#events = new MachineEvents(parts);
    this.reconfigure();
  }

  /** Another broker, user or topic is another session; the device of the old topics is removed. */
  reconfigure(): void {
    const { mqtt } = this.#parts.config.current;
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
    const sessions = [this.#session?.close(forgets), this.#hubSession?.close()];
    this.#session = undefined;
    this.#hubSession = undefined;
    this.#events.sessions.clear();
    await Promise.all(sessions);
  }

  async #replace(): Promise<void> {
    const { mqtt } = this.#parts.config.current;
    if (this.#isClosed || mqtt.url === undefined || !isDeepStrictEqual(mqtt, this.#settings)) return;
    const { discovery } = topicsOf({
      topic: mqtt.topic,
      discoveryPrefix: mqtt.discovery_prefix,
      id: this.#parts.id,
    });
    const { publish } = mqtt;
    const isKept = publish !== 'hub' && this.#session?.topics.discovery === discovery;
    await this.#closeSessions(!isKept);
    if (this.#isClosed) return;
    const isForBoth = publish === 'both';
    const { id, holds } = this.#parts;
    if (publish !== 'hub') {
      this.#session = new Session(this.#parts, mqtt.url, mqtt, holds);
      this.#events.add(this.#session);
    }
    if (publish === 'homeassistant') return;
    // A connection of its own: each has one last will.
    this.#hubSession = new HubSession(this.#parts, overBroker(mqtt.url, mqtt, id, isForBoth), holds);
    this.#events.add(this.#hubSession);
  }
}

export const openMqtt = (parts: MqttParts): MqttExporter => new MqttExporter(parts);

/** The connection of a hub to its broker. It is made here so that the library is in one part of the program. */
export const linkOf = (
  url: string,
  settings: BrokerKeys,
  id: string,
  options: LinkOptions<Connection>,
): MqttLink => openMqttLink(brokerOf(url, settings, id), options);
