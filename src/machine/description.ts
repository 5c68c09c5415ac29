/** Describes this machine to those who show several: what it is called, what it is, and where it is. */
import os from 'node:os';
import type { CurrentConfig } from '../config/current.ts';
import type { Host, SystemInfo } from '../host/host.ts';
import { identify } from '../identity.ts';
import type { ServiceFacts } from '../stats/system.ts';
import type { EventData } from '../wire/socket-events.ts';

export type MachineDescription = NonNullable<EventData<'connected'>['machine']>;

export interface DescriberDeps {
  readonly config: CurrentConfig;
  readonly host: Pick<Host, 'readSystem'>;
  readonly facts: Pick<ServiceFacts, 'version'>;
}

/** Without loopback and link-local addresses, which reach nobody else. */
const addressesOf = (interfaces: ReturnType<typeof os.networkInterfaces>): readonly string[] =>
  Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !/^(?:fe80:|169\.254\.)/.test(address))
    .map(({ address }) => address);

export class Describer {
  readonly #deps: DescriberDeps;
  readonly id: string;
  #info: Pick<SystemInfo, 'os' | 'model'> | undefined;

  constructor(deps: DescriberDeps) {
    this.#deps = deps;
    this.id = identify(deps.config.current.host);
  }

  /** Reads what takes a thread, once: it is unknown before. Never rejects. */
  async read(): Promise<void> {
    this.#info = await this.#deps.host.readSystem().catch(() => undefined);
  }

  describe(): MachineDescription {
    const { config, facts } = this.#deps;
    const { name = os.hostname(), labels } = config.current.host;
    const { os: system, model = null } = this.#info ?? {};
    return {
      id: this.id,
      name,
      labels,
      version: facts.version,
      os: system === undefined ? null : `${system.name} ${system.version}`.trim(),
      model,
      addresses: addressesOf(os.networkInterfaces()),
    };
  }
}
