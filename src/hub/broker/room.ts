/** The broker of the present configuration; its library is loaded when there is one. */
import type { Config } from '../../config/config.ts';
import { messageOf } from '../../errors.ts';
import type { HubParts } from '../host/parts.ts';
import type { Hosts } from '../hosts/hosts.ts';
import { Broker } from './broker.ts';

type Settings = Config['hub']['mqtt'];

export class BrokerRoom {
  readonly #parts: HubParts;
  readonly #hosts: Hosts;
  #settings: Settings | undefined;
  #broker: Broker | undefined;
  #ready: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: HubParts, hosts: Hosts) {
    this.#parts = parts;
    this.#hosts = hosts;
  }

  /** Another broker, user or topic is another connection. */
  configure(settings: Settings): void {
    if (JSON.stringify(settings) === JSON.stringify(this.#settings)) {
      this.#broker?.offerAgain();
      return;
    }
    this.#settings = settings;
    this.#ready = this.#ready.then(() => this.#replace(settings));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#ready;
    await this.#broker?.close();
  }

  async #replace(settings: Settings): Promise<void> {
    try {
      await this.#broker?.close();
      this.#broker = undefined;
      if (this.#isClosed || settings !== this.#settings || settings.url === undefined) return;
      const { linkOf } = await import('../../exporters/mqtt/exporter.ts');
      if (!this.#isClosed)
        this.#broker = new Broker(this.#parts, this.#hosts, settings.url, settings, linkOf);
    } catch (error) {
      this.#parts.log.error(`hub.mqtt does not start: ${messageOf(error)}`);
    }
  }
}
