/** Sinks and adapters to other systems, each loaded and started when the configuration asks for it. */
import { isLoopback } from '../access/exposure.ts';
import type { SleepInhibitor } from '../agent/transports/mqtt/sleep-inhibitor.ts';
import type { Commands } from '../commands/command.ts';
import type { Media } from '../commands/media.ts';
import type { Power } from '../commands/power.ts';
import type { Config } from '../config/config.ts';
import { messageOf } from '../errors.ts';
import type { HistoryQueries } from '../history/queries.ts';
import { ALL_SECTIONS } from '../host/host.ts';
import { identify } from '../identity.ts';
import type { Machine } from '../machine/machine.ts';
import type { Base } from '../parts.ts';
import { ALL_DETAILS, type Needs } from '../stats/needs.ts';
import type { Sampler } from '../stats/sampler.ts';
import type { ServiceFacts } from '../stats/system.ts';

/** Where the service listens. */
export interface ListenAddress {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
}

/** The parts of the service that an exporter may use. */
export interface ExporterParts extends Base {
  readonly facts: ServiceFacts;
  readonly sampler: Sampler;
  readonly history: HistoryQueries;
  readonly commands: Commands;
  readonly power: Power;
  readonly media: Media;
  readonly machine: Machine;
  readonly addresses: readonly ListenAddress[];
  /** Holds back a sleep for exporters whose peers must be notified before it. */
  readonly inhibitor: SleepInhibitor;
}

export interface Exporter {
  /** The configuration has changed. Must not throw. */
  reconfigure(): void;
  /** Signs off from the other system. Never rejects, and takes less than half a second. */
  close(): Promise<void>;
}

export interface ExporterRow {
  readonly name: string;
  readonly isWanted: (config: Config) => boolean;
  /** Imports it and starts it. It keeps trying while the other system does not answer. */
  readonly open: (parts: ExporterParts) => Promise<Exporter>;
}

/** A detailed sample. */
const DETAILED: Needs = { sections: ALL_SECTIONS, withDetail: true, details: ALL_DETAILS };

// An exporter's own modules import none of the service: the bundler would make a part of each that both use.
export const EXPORTERS: readonly ExporterRow[] = [
  {
    name: 'mqtt',
    isWanted: ({ mqtt }) => mqtt.url !== undefined,
    async open(parts) {
      const { openMqtt } = await import('./mqtt/exporter.ts');
      const id = identify(parts.config.current.host);
      return openMqtt({ ...parts, id, needs: DETAILED });
    },
  },
  {
    name: 'hub.url',
    isWanted: ({ hub }) => hub.url !== undefined,
    async open(parts) {
      const { openDial } = await import('../agent/reporter/dial-exporter.ts');
      return openDial({ ...parts, id: identify(parts.config.current.host) });
    },
  },
  {
    name: 'mDNS',
    isWanted: ({ discovery }) => discovery.mdns,
    open: async (parts) => {
      const { openMdns } = await import('./mdns/mdns.ts');
      const addresses = parts.addresses.map((address) => ({
        ...address,
        isLoopback: isLoopback(address.host),
      }));
      return await openMdns({ ...parts, addresses }, identify(parts.config.current.host));
    },
  },
];

export class Exporters {
  readonly #rows: readonly ExporterRow[];
  readonly #open = new Map<ExporterRow, Promise<Exporter | undefined>>();
  #parts: ExporterParts | undefined;
  #unlisten = (): void => undefined;

  constructor(rows = EXPORTERS) {
    this.#rows = rows;
  }

  start(parts: ExporterParts): void {
    this.#parts = parts;
    this.#unlisten = parts.config.onChange(() => this.#reconfigure());
    this.#reconfigure();
  }

  /** Opens what the configuration asks for now, closes what it no longer asks for, and informs the others. */
  #reconfigure(): void {
    const parts = this.#parts;
    if (parts === undefined) return;
    for (const row of this.#rows) {
      const exporter = this.#open.get(row);
      if (!row.isWanted(parts.config.current)) {
        this.#open.delete(row);
        void exporter?.then((open) => open?.close());
      } else if (exporter === undefined) this.#open.set(row, openRow(row, parts));
      else void exporter.then((open) => open?.reconfigure());
    }
  }

  async close(): Promise<void> {
    this.#unlisten();
    this.#parts = undefined;
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map(async (exporter) => (await exporter)?.close()));
  }
}

async function openRow(row: ExporterRow, parts: ExporterParts): Promise<Exporter | undefined> {
  try {
    return await row.open(parts);
  } catch (error) {
    parts.log.error(`${row.name} does not start: ${messageOf(error)}`);
    return undefined;
  }
}
