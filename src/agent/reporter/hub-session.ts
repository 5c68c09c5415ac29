/** All that belongs to the hubs on one transport, a broker or a dialled hub: the link, what they want, and what they ask for. */
import { randomBytes } from 'node:crypto';
import os from 'node:os';
import type { Caller } from '../../access/caller.ts';
import type { Clock } from '../../clock.ts';
import type { SleepInhibitor } from '../../commands/sleep-inhibitor.ts';
import { CommandAdapter } from '../../exporters/mqtt/commands/command-adapter.ts';
import type { MachineSources } from '../../exporters/mqtt/machine-events.ts';
import type { Commands } from '../../machine/commands.ts';
import { checkScopeOfHub } from '../../machine/requests.ts';
import type { Line, Message } from '../../mqtt/line.ts';
import type { LinkOptions } from '../../mqtt/link.ts';
import { ALL_SCOPES, allows, namesOfScopes, type Scopes } from '../../scopes.ts';
import type { ServiceFacts } from '../../stats/system.ts';
import type { HistoryEvent } from '../../wire/history.ts';
import type { HubTopics } from '../protocol/hub-topics.ts';
import type { AnswerDeps } from './answers.ts';
import { type HubReportOptions, HubReports } from './hub-reports.ts';
import { type Present, readHubCommand } from './hub-request.ts';
import { Questions } from './questions.ts';

export interface HubSessionDeps
  extends Omit<AnswerDeps, 'sampler'>,
    Pick<HubReportOptions, 'sampler' | 'clock' | 'log'> {
  readonly commands: Pick<Commands, 'prepare'>;
  readonly facts: Pick<ServiceFacts, 'version'>;
  readonly clock: Clock;
  /** The id of this machine: `[A-Za-z0-9_-]`. */
  readonly id: string;
  /** For tests. */
  readonly random?: () => number;
}

/** The dependencies of what reports a machine to hubs without a broker. */
export interface ReporterDeps extends HubSessionDeps {
  readonly media: HubSessionDeps['media'] & MachineSources['media'];
  readonly power: HubSessionDeps['power'] & MachineSources['power'];
  readonly history: HubSessionDeps['history'] & MachineSources['history'];
  readonly inhibitor: SleepInhibitor;
}

/** The link of a session, whatever carries it. */
export interface HubLink {
  deliver(topic: string, payload: string): Promise<boolean>;
  endStale(): boolean;
  check(): void;
  setAsleep(isAsleep: boolean): void;
  close(): Promise<void>;
}

/** As LinkOptions, for a link that makes one connection or many: the session sends samples on the present one. */
export type HubLinkOptions = Omit<LinkOptions, 'beforeOnline' | 'onOnline'> & {
  readonly states: NonNullable<LinkOptions['states']>;
  readonly beforeOnline: (connection: Pick<Line, 'send'>) => void;
  readonly onOnline: () => void;
};

/** How messages get from this agent to hubs and back. */
export interface Transport {
  /** The beginning of its lines in the log. */
  readonly subject: string;
  readonly topics: HubTopics;
  /**
   * The other side, for messages that do not name their caller: with the key of its connection, where it has one, and all
   * scopes, where it proves itself in another way than with a key of this service.
   */
  readonly peer: Caller;
  /** Opens the link, on which `topics` of hubs come in. `run`: of this session. */
  readonly open: (options: HubLinkOptions, run: string) => HubLink;
}

/** The version of the protocol between agent and hub. */
const VERSION = 1;
/** Viewers wait for the end of an outage, 5 s at most; each attempt is one connection. */
const MAX_DELAY_MS = 4000;

export class HubSession {
  readonly #clock: Clock;
  readonly #topics: HubTopics;
  readonly #adapter: CommandAdapter;
  readonly #questions: Questions;
  readonly #reports: HubReports;
  readonly #link: HubLink;
  readonly #inhibitor: SleepInhibitor;
  readonly #scopes: Scopes;
  /** Another one after each start: a command for an earlier one is not done. */
  readonly #run = randomBytes(8).toString('hex');

  constructor(deps: HubSessionDeps, transport: Transport, inhibitor: SleepInhibitor) {
    const { clock, log, commands, facts, config } = deps;
    const { topics, subject, peer } = transport;
    const { scopes } = peer;
    this.#clock = clock;
    this.#inhibitor = inhibitor;
    this.#scopes = scopes;
    this.#topics = topics;
    this.#adapter = new CommandAdapter({
      commands,
      clock,
      log,
      subject,
      peer,
      check: (name) => checkScopeOfHub(scopes, name),
      unixMs: Date.now,
      nameOf: topics.commandOn,
      read: (name, payload) => readHubCommand(name, payload, this.#present(), peer),
      answer: async (feedback, { caller, ...aside }) =>
        caller?.via !== undefined &&
        (await this.#link.deliver(
          topics.feedback(caller.via.hub),
          JSON.stringify({ ...feedback, ...aside, ...this.#present() }),
        )),
      isStale: () => this.#link.endStale(),
    });
    this.#questions = new Questions({
      ...deps,
      subject,
      peer,
      answer: (hub, text) => this.#link.deliver(topics.feedback(hub), text),
      stamp: () => this.#present(),
    });
    this.#reports = new HubReports({
      ...deps,
      subject,
      topics,
      present: () => this.#present(),
      deliver: (topic, payload) => this.#link.deliver(topic, payload),
      onSilence: () => this.#link.check(),
    });
    const { name = os.hostname(), labels } = config.current.host;
    const limits = scopes === ALL_SCOPES ? {} : { scopes: namesOfScopes(scopes) };
    const status = (state: string, more = {}) => JSON.stringify({ state, run: this.#run, ...more });
    const options: HubLinkOptions = {
      availability: topics.status,
      clock,
      log,
      random: deps.random ?? Math.random,
      maxDelayMs: MAX_DELAY_MS,
      states: {
        online: status('online', { version: facts.version, protocol: VERSION, name, labels, ...limits }),
        offline: status('offline'),
      },
      beforeOnline: (connection) => this.#begin(connection),
      onOnline: () => this.#inhibitor.hold(this),
      onMessage: (message) => this.#receive(message),
      onOffline: () => {
        this.#reports.end();
        this.#inhibitor.release(this);
      },
    };
    this.#link = transport.open(options, this.#run);
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
    const { processes: _, ...others } = event;
    this.#reports.sendEvent(allows(this.#scopes, 'processes') ? event : others);
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

  #begin(connection: Pick<Line, 'send'>): void {
    this.#adapter.begin();
    this.#reports.begin(connection);
  }

  #receive(message: Message): void {
    const { topic, payload, isRetained } = message;
    if (topic !== this.#topics.want && topic !== this.#topics.get) this.#adapter.take(message);
    // A retained one is from a hub that may be gone.
    else if (isRetained || this.#link.endStale()) return;
    else if (topic === this.#topics.want) this.#reports.takeInterest(payload);
    else this.#questions.take(payload);
  }
}
