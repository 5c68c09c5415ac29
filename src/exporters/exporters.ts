/** Sinks and adapters to other systems, each loaded and started when the configuration asks for it. */
import os from 'node:os';

import type { Caller } from '../access/caller.ts';
import type { Media } from '../commands/media.ts';
import type { Power } from '../commands/power.ts';
import type { SleepInhibitor } from '../commands/sleep-inhibitor.ts';
import type { Base } from '../composition.ts';
import type { Config } from '../config/config.ts';
import { messageOf } from '../errors.ts';
import type { HistoryQueries } from '../history/queries.ts';
import { SECTION_BITS } from '../host/host.ts';
import { dashboardUrl } from '../http/connections/dashboard-url.ts';
import type { Bound } from '../http/connections/listening.ts';
import { identify } from '../identity.ts';
import type { Commands } from '../machine/commands.ts';
import type { Machine } from '../machine/machine.ts';
import type { EventFeed } from '../notify/feed.ts';
import type { NotifyDeps } from '../notify/notify.ts';
import type { Carrier, CarrierEvents } from '../socket/carrier.ts';
import type { Sampler } from '../stats/sampler.ts';
import type { ServiceFacts } from '../stats/system.ts';
import { viewOf } from '../stats/view.ts';

/** The parts of the service that an exporter may use. */
export interface ExporterDeps extends Base {
  readonly facts: ServiceFacts;
  readonly sampler: Sampler;
  readonly history: HistoryQueries;
  readonly commands: Commands;
  readonly power: Power;
  readonly media: Media;
  readonly machine: Machine;
  readonly events: EventFeed;
  /** Where the service listens. */
  readonly addresses: readonly Bound[];
  /** Holds back a sleep for exporters whose peers must be notified before it. */
  readonly inhibitor: SleepInhibitor;
  /** Begins a session of /api/ws with the client at the other end of a carrier, whose events the session takes. */
  readonly serve: (carrier: Carrier, caller: Caller) => CarrierEvents;
}

export interface Exporter {
  /** The configuration has changed. Must not throw. */
  reconfigure(): void;
  /** Signs off from the other system. Never rejects, and takes less than half a second. */
  close(): Promise<void>;
}

export interface ExporterRow<Deps = ExporterDeps> {
  readonly name: string;
  readonly isWanted: (config: Config) => boolean;
  /** Imports it and starts it. It keeps trying while the other system does not answer. */
  readonly open: (deps: Deps) => Promise<Exporter>;
}

/** Also of a hub. */
export const NOTIFY: ExporterRow<NotifyDeps> = {
  name: 'notify',
  isWanted: ({ notify }) => Object.keys(notify.targets).length > 0 || notify.heartbeat.url !== undefined,
  async open(deps) {
    const { openNotifications } = await import('../notify/notify.ts');
    return await openNotifications(deps);
  },
};

export const EXPORTERS: readonly ExporterRow[] = [
  {
    name: 'mqtt',
    isWanted: ({ mqtt }) => mqtt.url !== undefined,
    async open(deps) {
      const { MqttExporter } = await import('./mqtt/exporter.ts');
      return new MqttExporter({ ...deps, id: identify(deps.config.current.host) });
    },
  },
  {
    name: 'hub.url',
    isWanted: ({ hub }) => hub.url !== undefined,
    async open(deps) {
      const { HubDials } = await import('./hub-dials.ts');
      return new HubDials({ ...deps, id: identify(deps.config.current.host) });
    },
  },
  {
    name: 'mDNS',
    isWanted: ({ discovery }) => discovery.mdns,
    async open(deps) {
      const { openMdns } = await import('./mdns.ts');
      return await openMdns(deps, identify(deps.config.current.host));
    },
  },
  {
    ...NOTIFY,
    async open(deps) {
      const { config, addresses, sampler } = deps;
      const hostname = config.current.host.name ?? os.hostname();
      const { path } = config.current.history;
      return await NOTIFY.open({
        ...deps,
        path: path === undefined ? undefined : `${path}.notify`,
        // A service has events of its own machine only.
        nameOf: () => hostname,
        link: () => dashboardUrl(config.current, addresses, hostname),
        check: () => checkSampling(sampler),
      });
    },
  },
];

const MEMORY = viewOf(SECTION_BITS.memory, false);

/** Every machine has it: the service cannot do its work where it cannot be read. */
async function checkSampling(sampler: Sampler): Promise<void> {
  const { sample } = await sampler.latest(MEMORY);
  if (sample.memory === undefined) throw new Error('the memory of this machine cannot be read');
}

export class Exporters<Deps extends Pick<Base, 'config' | 'log'> = ExporterDeps> {
  readonly #rows: readonly ExporterRow<Deps>[];
  readonly #open = new Map<ExporterRow<Deps>, Promise<Exporter | undefined>>();
  #deps: Deps | undefined;
  #unlisten = (): void => undefined;

  constructor(rows: readonly ExporterRow<Deps>[]) {
    this.#rows = rows;
  }

  start(deps: Deps): void {
    this.#deps = deps;
    this.#unlisten = deps.config.onChange(() => this.#reconfigure());
    this.#reconfigure();
  }

  /** Opens what the configuration asks for now, closes what it no longer asks for, and informs the others. */
  #reconfigure(): void {
    const deps = this.#deps;
    if (deps === undefined) return;
    for (const row of this.#rows) {
      const exporter = this.#open.get(row);
      if (!row.isWanted(deps.config.current)) {
        this.#open.delete(row);
        void exporter?.then((open) => open?.close());
      } else if (exporter === undefined) this.#open.set(row, this.#openRow(row, deps));
      else void exporter.then((open) => open?.reconfigure());
    }
  }

  async #openRow(row: ExporterRow<Deps>, deps: Deps): Promise<Exporter | undefined> {
    try {
      return await row.open(deps);
    } catch (error) {
      deps.log.error(`${row.name} does not start: ${messageOf(error)}`);
      return undefined;
    }
  }

  async close(): Promise<void> {
    this.#unlisten();
    this.#deps = undefined;
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map(async (exporter) => (await exporter)?.close()));
  }
}
