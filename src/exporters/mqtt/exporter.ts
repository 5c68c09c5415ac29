/** The MQTT exporter: follows the configuration, the players, power and the sleep of the machine. */
import { isDeepStrictEqual } from 'node:util';
import type { Media } from '../../commands/media.ts';
import type { Power } from '../../commands/power.ts';
import { topicsOf } from './discovery/topics.ts';
import { Session, type SessionRooms } from './session.ts';

export interface MqttParts extends SessionRooms {
  readonly media: SessionRooms['media'] & Pick<Media, 'onChange'>;
  readonly power: SessionRooms['power'] & Pick<Power, 'onChange' | 'onSleep'>;
}

export class MqttExporter {
  readonly #parts: MqttParts;
  /** Removes the listeners. */
  readonly #unlisten: readonly (() => void)[];
  #session: Session | undefined;
  #isAsleep = false;
  #settings: unknown;
  /** The end of sessions before this one: two with one client id would end each other. */
  #ending: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: MqttParts) {
    this.#parts = parts;
    this.#unlisten = [
      parts.media.onChange(() => this.#session?.mediaChanged()),
      parts.power.onChange(() => this.#session?.powerChanged()),
      parts.power.onSleep((isGoingToSleep) => {
        this.#isAsleep = isGoingToSleep;
        this.#session?.setAsleep(isGoingToSleep);
      }),
    ];
    this.reconfigure();
  }

  /** Another broker, user or topic is another session; the device of the old topics is removed. */
  reconfigure(): void {
    const { mqtt } = this.#parts.config.current;
    if (isDeepStrictEqual(mqtt, this.#settings)) {
      this.#session?.reconfigure();
      return;
    }
    this.#settings = mqtt;
    this.#ending = this.#ending.then(() => this.#replace());
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const unlisten of this.#unlisten) unlisten();
    const session = this.#session;
    this.#session = undefined;
    await Promise.all([this.#ending, session?.close()]);
  }

  async #replace(): Promise<void> {
    const { mqtt } = this.#parts.config.current;
    if (this.#isClosed || mqtt.url === undefined || !isDeepStrictEqual(mqtt, this.#settings)) return;
    const old = this.#session;
    this.#session = undefined;
    const { discovery } = topicsOf({
      ...{ topic: mqtt.topic, discoveryPrefix: mqtt.discovery_prefix, id: this.#parts.id },
    });
    await old?.close(old.topics.discovery !== discovery);
    if (this.#isClosed) return;
    this.#session = new Session(this.#parts, mqtt.url, mqtt);
    if (this.#isAsleep) this.#session.setAsleep(true);
  }
}

export const openMqtt = (parts: MqttParts): MqttExporter => new MqttExporter(parts);
