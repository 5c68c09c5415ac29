/** All that belongs to the hubs of one broker: the link, what they want, and what they ask for. */
import { randomBytes } from 'node:crypto';
import os from 'node:os';
import type { Clock } from '../../../clock.ts';
import type { Commands } from '../../../commands/command.ts';
import type { Config } from '../../../config/schema.ts';
import type { ServiceFacts } from '../../../stats/system.ts';
import type { HistoryEvent } from '../../../wire/history.ts';
import { CommandDoor } from '../door/door.ts';
import { type Broker, brokerOf } from '../link/broker.ts';
import type { Connection, Message } from '../link/connection.ts';
import { Link } from '../link/link.ts';
import type { SleepHold } from '../link/sleep-hold.ts';
import type { AnswerRooms } from './answers.ts';
import { Questions } from './questions.ts';
import { type HubReportOptions, HubReports } from './reports.ts';
import { type Present, readHubCommand } from './request.ts';
import { type HubTopics, hubTopicsOf } from './topics.ts';

export interface HubSessionRooms
  extends Omit<AnswerRooms, 'sampler'>,
    Pick<HubReportOptions, 'sampler' | 'clock' | 'log'> {
  readonly commands: Pick<Commands, 'prepare'>;
  readonly facts: Pick<ServiceFacts, 'version'>;
  readonly clock: Clock;
  /** Of this machine: `[A-Za-z0-9_-]`. */
  readonly id: string;
  /** For tests. */
  readonly random?: () => number;
}

/** Of the protocol between agent and hub. */
const VERSION = 1;
/** Viewers wait for the end of an outage; each attempt is one connection. */
const MAX_DELAY_MS = 5000;

export class HubSession {
  readonly #clock: Clock;
  readonly #topics: HubTopics;
  readonly #door: CommandDoor;
  readonly #questions: Questions;
  readonly #reports: HubReports;
  readonly #link: Link;
  readonly #holds: SleepHold;
  /** Another one after each start: a command for an earlier one is not done. */
  readonly #run = randomBytes(8).toString('hex');

  /** `isBeside`: another connection of this service has the client id. */
  constructor(
    rooms: HubSessionRooms,
    url: string,
    mqtt: Config['mqtt'],
    holds: SleepHold,
    isBeside: boolean,
  ) {
    const { clock, log, commands, id, facts, config } = rooms;
    this.#clock = clock;
    this.#holds = holds;
    const broker = brokerFor(url, mqtt, id, isBeside);
    const topics = hubTopicsOf(mqtt.topic, id);
    this.#topics = topics;
    this.#door = new CommandDoor({
      ...{ commands, clock, log, unixMs: Date.now },
      sender: { address: `${broker.host}:${broker.port}`, isKeyed: false },
      nameOf: topics.commandOn,
      read: (name, payload) => readHubCommand(name, payload, this.#present()),
      answer: async (feedback, { asker, ...aside }) =>
        asker !== undefined &&
        (await this.#link.deliver(
          topics.feedback(asker.hub),
          JSON.stringify({ ...feedback, ...aside, ...this.#present() }),
        )),
      isStale: () => this.#link.endStale(),
    });
    this.#questions = new Questions({
      ...rooms,
      answer: (hub, text) => this.#link.deliver(topics.feedback(hub), text),
      stamp: () => this.#present(),
    });
    this.#reports = new HubReports({
      ...rooms,
      topics,
      present: () => this.#present(),
      deliver: (topic, payload) => this.#link.deliver(topic, payload),
    });
    const { name = os.hostname(), labels } = config.current.host;
    const status = (state: string, more = {}) => JSON.stringify({ state, run: this.#run, ...more });
    this.#link = new Link({
      ...{ broker, availability: topics.status, clock, log, random: rooms.random ?? Math.random },
      maxDelayMs: MAX_DELAY_MS,
      states: {
        online: status('online', { version: facts.version, protocol: VERSION, name, labels }),
        offline: status('offline'),
      },
      beforeOnline: (connection) => this.#begin(connection),
      onOnline: () => this.#holds.hold(this),
      onMessage: (message) => this.#receive(message),
      onOffline: () => {
        this.#reports.end();
        this.#holds.release(this);
      },
    });
  }

  reconfigure(): void {
    this.#reports.mediaChanged();
    this.#reports.powerChanged();
  }

  mediaChanged(): void {
    this.#reports.mediaChanged();
  }

  powerChanged(): void {
    this.#reports.powerChanged();
  }

  sendEvent(event: HistoryEvent): void {
    this.#reports.sendEvent(event);
  }

  setAsleep(isAsleep: boolean): void {
    this.#link.setAsleep(isAsleep);
  }

  /** Takes less than half a second. */
  async close(): Promise<void> {
    this.#reports.end();
    await this.#link.close();
  }

  #present(): Present {
    return { run: this.#run, clock: Math.round(this.#clock.sinceBoot()) };
  }

  #begin(connection: Connection): void {
    this.#door.begin();
    this.#reports.begin(connection);
    const { want, commands } = this.#topics;
    // With QoS 0 nothing is delivered again, and nats-server keeps no consumer for it.
    connection.subscribe([want, commands], 0).then(
      (refused) => this.#link.reportRefusal(refused, 'the subscription is refused'),
      () => undefined,
    );
  }

  #receive(message: Message): void {
    const { topic, payload, isRetained } = message;
    if (topic !== this.#topics.want && topic !== this.#topics.get) this.#door.take(message);
    // A retained one is from a hub that may be gone.
    else if (isRetained || this.#link.endStale()) return;
    else if (topic === this.#topics.want) this.#reports.want(payload);
    else this.#questions.take(payload);
  }
}

/** `isBeside`: another connection of this service has the client id. */
function brokerFor(url: string, mqtt: Config['mqtt'], id: string, isBeside: boolean): Broker {
  const broker = brokerOf(url, mqtt, id);
  return isBeside ? { ...broker, clientId: `${broker.clientId}-hub` } : broker;
}
