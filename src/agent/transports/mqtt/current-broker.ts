/** The broker of the present configuration; its library is loaded when there is one. */
import type { Config } from '../../../config/config.ts';
import { messageOf } from '../../../errors.ts';
import type { OpenBrokerLink } from '../../../mqtt/mqtt-link.ts';
import type { RemoteDeps } from '../../remote/deps.ts';
import type { Hosts } from '../../remote/hosts.ts';
import { Broker } from './broker.ts';

type Settings = Config['hub']['mqtt'];

export class CurrentBroker {
  readonly #deps: RemoteDeps;
  readonly #hosts: Hosts;
  readonly #load: () => Promise<OpenBrokerLink>;
  #settings: Settings | undefined;
  #broker: Broker | undefined;
  #ready: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** `load`: loads the library. */
  constructor(deps: RemoteDeps, hosts: Hosts, load: () => Promise<OpenBrokerLink>) {
    this.#load = load;
    this.#deps = deps;
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
      const openLink = await this.#load();
      if (!this.#isClosed)
        this.#broker = new Broker(this.#deps, this.#hosts, settings.url, settings, openLink);
    } catch (error) {
      this.#deps.log.error(`hub.mqtt does not start: ${messageOf(error)}`);
    }
  }
}
