/** The brokers of the present configuration; what speaks to them is loaded when there is one. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';
import type { BrokerEntry } from '../config/rows/mqtt-rows.ts';
import { messageOf } from '../errors.ts';
import type { Machines } from '../machine/machines.ts';
import type { RemoteDeps } from '../machine/remote-deps.ts';
import type { Broker } from './broker.ts';

interface Current {
  readonly entry: BrokerEntry;
  /** undefined: it does not start. Never rejects. */
  readonly broker: Promise<Broker | undefined>;
}

export class Brokers {
  readonly #deps: RemoteDeps;
  readonly #machines: Machines;
  /** By their names in the configuration. */
  readonly #current = new Map<string, Current>();
  /** The ends of earlier ones: two with one client id would end each other. */
  #ending: Promise<unknown> = Promise.resolve();

  constructor(deps: RemoteDeps, machines: Machines) {
    this.#deps = deps;
    this.#machines = machines;
  }

  /** Another URL, user or topic is another connection. */
  configure(entries: Config['hub']['brokers']): void {
    for (const [name, { entry, broker }] of this.#current) {
      if (isDeepStrictEqual(entry, entries[name])) void broker.then((each) => each?.offerAgain());
      else this.#end(name);
    }
    for (const [name, entry] of Object.entries(entries))
      if (!this.#current.has(name)) this.#current.set(name, { entry, broker: this.#begin(name, entry) });
  }

  /** Never rejects. */
  async close(): Promise<void> {
    for (const name of this.#current.keys()) this.#end(name);
    await this.#ending;
  }

  #end(name: string): void {
    const broker = this.#current.get(name)?.broker;
    this.#current.delete(name);
    this.#ending = Promise.all([this.#ending, broker?.then((each) => each?.close())]);
  }

  async #begin(name: string, entry: BrokerEntry): Promise<Broker | undefined> {
    try {
      await this.#ending;
      const { Broker } = await import('./broker.ts');
      return this.#current.get(name)?.entry === entry
        ? new Broker(this.#deps, this.#machines, `hub.brokers.${name}`, entry)
        : undefined;
    } catch (error) {
      this.#deps.log.error(`hub.brokers.${name} does not start: ${messageOf(error)}`);
      return undefined;
    }
  }
}
