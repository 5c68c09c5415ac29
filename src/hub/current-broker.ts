/** The broker of the present configuration; what speaks to it is loaded when there is one. */
import type { Config } from '../config/config.ts';
import { messageOf } from '../errors.ts';
import type { Machines } from '../machine/machines.ts';
import type { RemoteDeps } from '../machine/remote-deps.ts';
import type { Broker } from './broker.ts';

type Settings = Config['hub']['mqtt'];

export class CurrentBroker {
  readonly #deps: RemoteDeps;
  readonly #machines: Machines;
  #settings: Settings | undefined;
  #broker: Broker | undefined;
  #ready: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: RemoteDeps, machines: Machines) {
    this.#deps = deps;
    this.#machines = machines;
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

  /** Never rejects. */
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
      const { Broker } = await import('./broker.ts');
      if (!this.#isClosed) this.#broker = new Broker(this.#deps, this.#machines, settings.url, settings);
    } catch (error) {
      this.#deps.log.error(`hub.mqtt does not start: ${messageOf(error)}`);
    }
  }
}
