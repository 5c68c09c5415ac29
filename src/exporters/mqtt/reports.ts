/** Publishes readings every interval, media and power when they change, and the device of Home Assistant. */

import type { Clock } from '../../clock.ts';
import type { Media } from '../../commands/media.ts';
import type { Power } from '../../commands/power.ts';
import type { CurrentConfig } from '../../config/current.ts';
import type { EventBook } from '../../history/event-book.ts';
import { rulesIn } from '../../history/rules.ts';
import { ALL_SECTIONS, type Host, type SystemInfo } from '../../host/host.ts';
import type { Log } from '../../log/log.ts';
import { Coalescer } from '../../mqtt/coalescer.ts';
import type { Connection } from '../../mqtt/connection.ts';
import { ALL_DETAILS } from '../../stats/needs.ts';
import type { SampleSource } from '../../stats/source.ts';
import type { ServiceFacts } from '../../stats/system.ts';
import type { MediaDetail } from '../../wire/media.ts';
import { type Components, componentsIn, deviceDocument } from './discovery/document.ts';
import { type Reading, settleBootTime } from './discovery/machine.ts';
import { problemsOf } from './discovery/problems.ts';
import { artMessage, mediaMessage, powerMessage, stateMessage } from './discovery/state.ts';
import type { Topics } from './discovery/topics.ts';

/** The parts of the service that reports are made of. */
export interface ReportDeps {
  readonly config: CurrentConfig;
  readonly host: Pick<Host, 'readSystem' | 'media'>;
  readonly facts: Pick<ServiceFacts, 'version'>;
  readonly sampler: Pick<SampleSource, 'latest'>;
  readonly media: Pick<Media, 'status' | 'art'>;
  readonly power: Pick<Power, 'status' | 'capabilities'>;
  readonly events: Pick<EventBook, 'open'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ReportOptions extends ReportDeps {
  readonly id: string;
  readonly topics: Topics;
  readonly intervalSeconds: number;
  /** Returns the address of the dashboard for the name of the machine. */
  readonly urlOf: (hostname: string) => string | undefined;
  /** Publishes with QoS 1 and logs a refusal once. Resolves with whether the broker has it; never rejects. */
  readonly deliver: (topic: string, payload: string, isRetained?: boolean) => Promise<boolean>;
}

const EVERYTHING = { sections: ALL_SECTIONS, withDetail: true, details: ALL_DETAILS };
/** Wait for the document that the broker keeps. */
const CACHED_MS = 500;
/** Least time between two messages on media, and on power. */
const PACE_MS = 200;

export class Reports {
  readonly #options: ReportOptions;
  readonly #media: Coalescer;
  readonly #power: Coalescer;
  readonly #readings: Coalescer;
  #connection: Connection | undefined;
  #timer: unknown;
  #system: SystemInfo | undefined;
  #bootedAt: number | undefined;
  /** The components of the last document; undefined: the one that the broker keeps was not read yet. */
  #components: Components | undefined;
  /** The last reading on this connection. */
  #reading: Reading | undefined;
  /** The players in the last document on this connection. */
  #players: string | undefined;
  /** Takes the document that the broker keeps. */
  takeRetained: (payload: string) => void = () => undefined;
  /** The last payload on each topic, on this connection. */
  readonly #sent = new Map<string, string>();

  constructor(options: ReportOptions) {
    this.#options = options;
    const { clock, log } = options;
    const paced = (run: () => Promise<void>) =>
      new Coalescer({
        run,
        clock,
        paceMs: PACE_MS,
        isActive: () => this.#connection !== undefined,
        onFailure: (reason) => log.error(`mqtt: cannot read the machine: ${reason}`),
      });
    this.#media = paced(() => this.#sendMedia());
    this.#power = paced(() => this.#sendPower());
    this.#readings = paced(() => this.#sendReading());
  }

  /** A connection was made: everything is published on it. */
  begin(connection: Connection): void {
    this.#connection = connection;
    this.#system = undefined;
    this.#reading = undefined;
    this.#players = undefined;
    void this.#findRetained(connection).finally(() => {
      if (this.#connection === connection) this.repeat();
    });
  }

  /** Nothing is read any more. */
  end(): void {
    this.#connection = undefined;
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  /** Publishes everything, whether it has changed or not. */
  repeat(): void {
    if (this.#connection === undefined) return;
    this.#sent.clear();
    this.#tick();
  }

  mediaChanged(): void {
    if (this.#connection !== undefined) this.#media.request();
  }

  powerChanged(): void {
    if (this.#connection !== undefined) this.#power.request();
  }

  #tick(): void {
    const { clock, intervalSeconds } = this.#options;
    clock.clearTimer(this.#timer);
    this.#timer = clock.setTimer(() => this.#tick(), intervalSeconds * 1000);
    this.#readings.request();
    // The position in a track advances without a change.
    this.#media.request();
    this.#power.request();
  }

  /** Asks the broker for the document of an earlier start: what it announced and is gone now must be removed. */
  async #findRetained(connection: Connection): Promise<void> {
    const { topics, clock } = this.#options;
    const { discovery } = topics;
    if (this.#components !== undefined || discovery === undefined) return;
    const kept = new Promise<string>((resolve) => {
      this.takeRetained = resolve;
      clock.setTimer(() => resolve(''), CACHED_MS);
    });
    try {
      await connection.subscribe([discovery]);
      this.#components = componentsIn(await kept);
      await connection.unsubscribe([discovery]);
    } catch {
      // The connection has ended; the next one asks again.
    }
  }

  async #sendReading(): Promise<void> {
    const { host, sampler, facts, topics, config, events } = this.#options;
    const connection = this.#connection;
    const { sample } = await sampler.latest(EVERYTHING);
    this.#system ??= await host.readSystem();
    this.#bootedAt = settleBootTime(sample, this.#bootedAt);
    const reading: Reading = {
      sample,
      system: this.#system,
      version: facts.version,
      bootedAt: this.#bootedAt,
      problems: problemsOf(Object.keys(rulesIn(config.current.watch)), events.open),
    };
    const isFirst = this.#reading === undefined;
    this.#reading = reading;
    this.#components = await this.#announce(reading, this.#readMedia());
    if (isFirst) this.#media.request();
    if (connection === this.#connection) await connection?.send(topics.state, stateMessage(reading));
  }

  /** Publishes the document; returns what it announces. */
  async #announce(
    reading: Reading,
    status: Promise<MediaDetail | undefined> | MediaDetail,
  ): Promise<Components | undefined> {
    const { id, topics, intervalSeconds, power, urlOf, config } = this.#options;
    if (topics.discovery === undefined) return this.#components;
    const { hostname } = reading.system;
    const capabilities = await power.capabilities();
    const media = await status;
    const document = deviceDocument(
      {
        ...reading,
        id,
        name: hostname,
        topics,
        intervalSeconds,
        url: urlOf(hostname),
        hasRules: Object.keys(rulesIn(config.current.watch)).length > 0,
        media,
        power: capabilities,
      },
      this.#components,
    );
    this.#players = JSON.stringify(media?.players);
    await this.#sendChanged(topics.discovery, document.payload, true);
    return document.components;
  }

  async #readMedia(): Promise<MediaDetail | undefined> {
    const { config, host, media } = this.#options;
    if (!config.current.features.enable_media || host.media === undefined) return undefined;
    // With detail all keys are there.
    return (await media.status(undefined, true)) as MediaDetail;
  }

  async #sendMedia(): Promise<void> {
    const { topics, media } = this.#options;
    const status = await this.#readMedia();
    if (status === undefined) return;
    // Home Assistant refuses the name of a player that the document does not list.
    if (topics.discovery !== undefined && this.#players !== JSON.stringify(status.players)) {
      // The first reading is announced, and followed by this.
      if (this.#reading === undefined) return;
      await this.#announce(this.#reading, status);
    }
    await this.#sendChanged(topics.media, mediaMessage(status));
    const { player, title, art_url: url } = status;
    const track = JSON.stringify([player, title, url]);
    if (this.#sent.get(topics.art) === track) return;
    this.#sent.set(topics.art, track);
    const picture = await media.art(undefined).catch(() => undefined);
    await this.#options.deliver(topics.art, artMessage(picture));
  }

  async #sendPower(): Promise<void> {
    const { topics, power } = this.#options;
    await this.#sendChanged(topics.power, powerMessage(await power.status()));
  }

  async #sendChanged(topic: string, payload: string, isRetained = false): Promise<void> {
    if (this.#connection === undefined || this.#sent.get(topic) === payload) return;
    this.#sent.set(topic, payload);
    await this.#options.deliver(topic, payload, isRetained);
  }
}
