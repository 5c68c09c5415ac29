/** All that belongs to one broker and one set of topics: the link, what is published, and the commands that come in. */

import { CommandDoor } from '../../agent/reporter/command-door.ts';
import { brokerOf } from '../../agent/transports/mqtt/broker-socket.ts';
import type { Connection } from '../../agent/transports/mqtt/connection.ts';
import type { Message } from '../../agent/transports/mqtt/line.ts';
import { ONLINE } from '../../agent/transports/mqtt/link.ts';
import { type MqttLink, openMqttLink } from '../../agent/transports/mqtt/mqtt-link.ts';
import type { SleepHold } from '../../agent/transports/mqtt/sleep-hold.ts';
import type { Commands } from '../../commands/command.ts';
import type { Config } from '../../config/config.ts';
import { inUrl } from '../../url-host.ts';
import type { HistoryEvent } from '../../wire/history.ts';
import { topicsOf } from './discovery/topics.ts';
import { type ReportRooms, Reports } from './reports.ts';

/** Where the service listens. */
interface ServiceDoor {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
}

export interface SessionRooms extends ReportRooms {
  readonly commands: Pick<Commands, 'prepare' | 'allowed'>;
  readonly doors: readonly ServiceDoor[];
  /** The id of this machine: `[A-Za-z0-9_-]`. */
  readonly id: string;
  /** For tests. */
  readonly random?: () => number;
  readonly unixMs?: () => number;
}

/** Home Assistant has started: everything is published again, but not by all clients of a broker together. */
const REPEAT_WITHIN_MS = 3000;

export class Session {
  readonly #rooms: SessionRooms;
  readonly #holds: SleepHold;
  readonly topics: ReturnType<typeof topicsOf>;
  readonly #door: CommandDoor;
  readonly #reports: Reports;
  readonly #link: MqttLink;
  readonly #random: () => number;
  /** The topics of commands that are subscribed to, with the names of the commands. */
  #names: ReadonlyMap<string, string> = new Map();

  constructor(rooms: SessionRooms, url: string, mqtt: Config['mqtt'], holds: SleepHold) {
    const { clock, log, commands, id } = rooms;
    this.#rooms = rooms;
    this.#holds = holds;
    this.#random = rooms.random ?? Math.random;
    const broker = brokerOf(url, mqtt, id);
    this.topics = topicsOf({ topic: mqtt.topic, discoveryPrefix: mqtt.discovery_prefix, id });
    const { host, port } = broker;
    this.#door = new CommandDoor({
      commands,
      clock,
      log,
      unixMs: rooms.unixMs ?? Date.now,
      // The broker has let it through, and this service has seen no key.
      sender: { address: `${host}:${port}`, isKeyed: false },
      nameOf: (topic) => this.#names.get(topic),
      answer: (feedback) => this.#link.deliver(this.topics.feedback, JSON.stringify(feedback)),
      clear: (topic) => void this.#link.deliver(topic, '', true),
      // Commands that arrived while the machine slept are not done.
      isStale: () => this.#link.endStale(),
    });
    this.#reports = new Reports({
      ...rooms,
      topics: this.topics,
      intervalSeconds: mqtt.interval_seconds,
      urlOf: (hostname) => this.#urlOf(hostname),
      deliver: (...message) => this.#link.deliver(...message),
    });
    this.#link = openMqttLink(broker, {
      availability: this.topics.availability,
      clock,
      log,
      random: this.#random,
      onOnline: (connection) => this.#begin(connection),
      onMessage: (message) => this.#receive(message),
      onOffline: () => this.#end(),
    });
  }

  /** Flags or other settings have changed. */
  reconfigure(): void {
    const { connection } = this.#link;
    if (connection === undefined) return;
    void this.#subscribe(connection);
    this.#reports.repeat();
  }

  mediaChanged(): void {
    this.#reports.mediaChanged();
  }

  powerChanged(): void {
    this.#reports.powerChanged();
  }

  /** Lost while there is no connection: nothing is kept. */
  sendEvent(event: HistoryEvent): void {
    void this.#link.deliver(this.topics.event, JSON.stringify(event));
  }

  setAsleep(isAsleep: boolean): void {
    this.#link.setAsleep(isAsleep);
  }

  /** `forgets`: removes the device from Home Assistant. Takes less than half a second. */
  async close(forgets = false): Promise<void> {
    this.#reports.end();
    const { discovery } = this.topics;
    await this.#link.close(
      forgets && discovery !== undefined
        ? async (connection) => await connection.deliver(discovery, '', true)
        : undefined,
    );
  }

  #begin(connection: Connection): void {
    this.#names = new Map();
    this.#door.begin();
    void this.#subscribe(connection);
    this.#reports.begin(connection);
    this.#holds.hold(this);
  }

  /** The connection has ended, before a sleep with `offline`: nothing is left to wait for. */
  #end(): void {
    this.#reports.end();
    this.#holds.release(this);
  }

  /** Each command whose flag is on has a topic, and so has each group of them. Never rejects. */
  async #subscribe(connection: Connection): Promise<void> {
    const { allowed } = this.#rooms.commands;
    const groups = allowed.map((name) => name.slice(0, name.indexOf('.')));
    const names = new Map([...groups, ...allowed].map((name) => [this.topics.command(name), name]));
    const before = this.#names;
    // First: a retained message may come before the answer.
    this.#names = names;
    const { homeAssistantStatus: status } = this.topics;
    const added = [...names.keys()].filter((topic) => !before.has(topic));
    try {
      await connection.unsubscribe([...before.keys()].filter((topic) => !names.has(topic)));
      const refused = [
        ...(await connection.subscribe(added, { marksRetained: true })),
        // Some let Home Assistant keep its status: the present one must not be taken for an old one.
        ...(status === undefined ? [] : await connection.subscribe([status])),
      ];
      this.#link.reportRefusal(refused, 'the subscription is refused');
    } catch (error) {
      if (connection.isReady) this.#rooms.log.warn(`mqtt: no commands are taken: ${String(error)}`);
    }
  }

  #receive(message: Message): void {
    const { topic, payload, isRetained } = message;
    // The retained one is older than this connection, on which everything was published.
    if (topic === this.topics.homeAssistantStatus) {
      if (!isRetained && payload.toString() === ONLINE) this.#repeatSoon();
    } else if (topic === this.topics.discovery) {
      if (isRetained) this.#reports.takeKept(payload.toString());
    } else this.#door.take(message);
  }

  #repeatSoon(): void {
    this.#rooms.clock.setTimer(() => this.#reports.repeat(), this.#random() * REPEAT_WITHIN_MS);
  }

  /** The address of the dashboard in the network; undefined where it is off, or for this machine only. */
  #urlOf(hostname: string): string | undefined {
    const { config, doors } = this.#rooms;
    const door = doors.find(({ scheme }) => scheme === 'https') ?? doors[0];
    if (door === undefined || !config.current.features.enable_dashboard) return undefined;
    const { scheme, host, port } = door;
    if (/^(?:localhost|127\.|::1$)/.test(host)) return undefined;
    const isAny = host === '::' || host === '0.0.0.0';
    return `${scheme}://${isAny ? hostname : inUrl(host)}:${port}`;
  }
}
