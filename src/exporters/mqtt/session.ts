/** All that belongs to one broker and one set of topics: the link, what is published, and the commands that come in. */

import type { SleepInhibitor } from '../../commands/sleep-inhibitor.ts';
import type { Config } from '../../config/config.ts';
import { dashboardUrl } from '../../http/connections/dashboard-url.ts';
import type { Bound } from '../../http/connections/listening.ts';
import type { Commands } from '../../machine/commands.ts';
import { brokerOf } from '../../mqtt/broker-socket.ts';
import type { Connection } from '../../mqtt/connection.ts';
import type { Message } from '../../mqtt/line.ts';
import { MqttLink, ONLINE } from '../../mqtt/link.ts';
import { ALL_SCOPES } from '../../scopes.ts';
import type { HistoryEvent } from '../../wire/history.ts';
import { CommandAdapter } from './commands/command-adapter.ts';
import { topicsOf } from './discovery/topics.ts';
import { type ReportDeps, Reports } from './reports.ts';

export interface SessionDeps extends ReportDeps {
  readonly commands: Pick<Commands, 'prepare' | 'allowed'>;
  readonly addresses: readonly Bound[];
  /** The id of this machine: `[A-Za-z0-9_-]`. */
  readonly id: string;
  /** For tests. */
  readonly random?: () => number;
  readonly unixMs?: () => number;
}

/** Home Assistant has started: everything is published again, but not by all clients of a broker together. */
const REPEAT_WITHIN_MS = 3000;

export class Session {
  readonly #deps: SessionDeps;
  readonly #inhibitor: SleepInhibitor;
  readonly topics: ReturnType<typeof topicsOf>;
  readonly #adapter: CommandAdapter;
  readonly reports: Reports;
  readonly link: MqttLink;
  readonly #random: () => number;
  /** The topics of commands that are subscribed to, with the names of the commands. */
  #names: ReadonlyMap<string, string> = new Map();

  constructor(deps: SessionDeps, url: string, mqtt: Config['mqtt'], inhibitor: SleepInhibitor) {
    const { clock, log, commands, id } = deps;
    this.#deps = deps;
    this.#inhibitor = inhibitor;
    this.#random = deps.random ?? Math.random;
    const broker = brokerOf(url, mqtt, id);
    this.topics = topicsOf({ topic: mqtt.topic, discoveryPrefix: mqtt.discovery_prefix, id });
    const { host, port } = broker;
    this.#adapter = new CommandAdapter({
      commands,
      clock,
      log,
      unixMs: deps.unixMs ?? Date.now,
      // The broker has let it through, and this service has seen no key.
      peer: { address: `${host}:${port}`, isKeyed: false, scopes: ALL_SCOPES },
      nameOf: (topic) => this.#names.get(topic),
      answer: (feedback) => this.link.deliver(this.topics.feedback, JSON.stringify(feedback)),
      clear: (topic) => void this.link.deliver(topic, '', true),
      // Commands that arrived while the machine slept are not done.
      isStale: () => this.link.endStale(),
    });
    this.reports = new Reports({
      ...deps,
      topics: this.topics,
      intervalSeconds: mqtt.interval_seconds,
      urlOf: (hostname) => dashboardUrl(deps.config.current, deps.addresses, hostname),
      deliver: (...message) => this.link.deliver(...message),
    });
    this.link = new MqttLink(broker, {
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
    const { connection } = this.link;
    if (connection === undefined) return;
    void this.#subscribe(connection);
    this.reports.repeat();
  }

  /** Lost while there is no connection: nothing is kept. */
  sendEvent(event: HistoryEvent): void {
    void this.link.deliver(this.topics.event, JSON.stringify(event));
  }

  /** `forgets`: removes the device from Home Assistant. Takes less than half a second. */
  async close(forgets = false): Promise<void> {
    this.reports.end();
    const { discovery } = this.topics;
    await this.link.close(
      forgets && discovery !== undefined
        ? async (connection) => await connection.deliver(discovery, '', true)
        : undefined,
    );
  }

  #begin(connection: Connection): void {
    this.#names = new Map();
    this.#adapter.begin();
    void this.#subscribe(connection);
    this.reports.begin(connection);
    this.#inhibitor.hold(this);
  }

  /** The connection has ended, before a sleep with `offline`: nothing is left to wait for. */
  #end(): void {
    this.reports.end();
    this.#inhibitor.release(this);
  }

  /** Each command whose flag is on has a topic, and so has each group of them. Never rejects. */
  async #subscribe(connection: Connection): Promise<void> {
    const { allowed } = this.#deps.commands;
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
      this.link.reportRefusal(refused, 'the subscription was refused');
    } catch (error) {
      if (connection.isReady) this.#deps.log.warn(`mqtt: cannot receive commands: ${String(error)}`);
    }
  }

  #receive(message: Message): void {
    const { topic, payload, isRetained } = message;
    // The retained one is older than this connection, on which everything was published.
    if (topic === this.topics.homeAssistantStatus) {
      if (!isRetained && payload.toString() === ONLINE) this.#repeatSoon();
    } else if (topic === this.topics.discovery) {
      if (isRetained) this.reports.takeRetained(payload.toString());
    } else this.#adapter.take(message);
  }

  #repeatSoon(): void {
    this.#deps.clock.setTimer(() => this.reports.repeat(), this.#random() * REPEAT_WITHIN_MS);
  }
}
