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

/** Addresses change: a description that is older than this has the machine read again for the next one. */
const RENEW_MS = 60_000;

export class Describer {
  readonly #deps: DescriberDeps;
  readonly id: string;
  #info: Pick<SystemInfo, 'os' | 'model' | 'network'> | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: DescriberDeps) {
    this.#deps = deps;
    this.id = identify(deps.config.current.host);
  }

  /**
   * Reads the machine on a thread of the addon: the kernel may hold its interfaces for seconds, and thousands of greetings
   * may be sent together. Nothing is known before. Never rejects.
   */
  async read(): Promise<void> {
    this.#readAtMs = performance.now();
    this.#info = await this.#deps.host.readSystem().catch(() => this.#info);
  }

  describe(): MachineDescription {
    const { config, facts } = this.#deps;
    const { name = os.hostname(), labels } = config.current.host;
    if (performance.now() - this.#readAtMs > RENEW_MS) void this.read();
    const { os: system, model = null, network } = this.#info ?? {};
    return {
      id: this.id,
      name,
      labels,
      version: facts.version,
      os: system === undefined ? null : `${system.name} ${system.version}`.trim(),
      model,
      addresses: [network?.ipv4, network?.ipv6].filter((address) => typeof address === 'string'),
    };
  }
}
