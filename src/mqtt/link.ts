/** Keeps a connection to a broker: makes it, makes it again with growing waits, and ends it while the machine sleeps. */
import { type Clock, SleepMark } from '../clock.ts';
import type { Log } from '../log/log.ts';
import { Backoff } from './backoff.ts';
import type { Broker, ProtocolVersion } from './broker-socket.ts';
import { Connection } from './connection.ts';
import { type Ending, type Message, Refusal } from './line.ts';

export const ONLINE = 'online';
const OFFLINE = 'offline';

export interface LinkOptions {
  /** Where `states` are published, retained; the second is also the last will. undefined: they are not. */
  readonly availability: string | undefined;
  /** `online` and `offline` where it is absent. */
  readonly states?: { readonly online: string; readonly offline: string };
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** The longest wait for the next attempt; a minute where it is absent. */
  readonly maxDelayMs?: number;
  /** Called before `online` is published: what is subscribed here is in force when others see that. */
  readonly beforeOnline?: (connection: Connection) => void;
  /** Called when `online` has been published. */
  readonly onOnline: (connection: Connection) => void;
  readonly onMessage: (message: Message) => void;
  /** Called when such a connection has ended. */
  readonly onOffline: () => void;
}

/** Wait for the acknowledgement of `offline`: a service has half a second to close its exporters. */
const FAREWELL_MS = 300;
/** Maximum time awake between the notice of a sleep and that of its end; longer means that the second was lost. */
const SLEEP_NOTICE_MS = 60_000;

export class MqttLink {
  readonly #broker: Broker;
  readonly #options: LinkOptions;
  readonly #backoff: Backoff;
  #connection: Connection | undefined;
  #timer: unknown;
  #begunAtMs = 0;
  #readyAtMs: number | undefined;
  /** Since the last attempt to connect. */
  readonly #sleep: SleepMark;
  #version: ProtocolVersion = 5;
  #isVersionKnown = false;
  #isAsleep = false;
  #isClosed = false;
  /** Reasons that were logged since there was a connection. */
  readonly #logged = new Set<string>();
  /** Topics whose refusal was logged. */
  readonly #refused = new Set<string>();
  readonly #states: { readonly online: string; readonly offline: string };

  constructor(broker: Broker, options: LinkOptions) {
    this.#broker = broker;
    this.#options = options;
    this.#sleep = new SleepMark(options.clock);
    this.#states = options.states ?? { online: ONLINE, offline: OFFLINE };
    this.#backoff = new Backoff(options.random, options.maxDelayMs);
    this.#connect();
  }

  /** The connection, while there is one. */
  get connection(): Connection | undefined {
    return this.#connection?.isReady === true ? this.#connection : undefined;
  }

  /**
   * Whether the machine has slept since the connection was made: what comes in now may be as old as the sleep. Such a connection
   * is ended, and a new one made immediately.
   */
  endStale(): boolean {
    const { hasSlept } = this.#sleep;
    if (hasSlept) {
      this.#backoff.reset();
      this.#connection?.cut('the machine has slept');
    }
    return hasSlept;
  }

  /** Publishes with QoS 1, and logs a refusal once per topic. Resolves with whether the broker has it; never rejects. */
  async deliver(topic: string, payload: string, isRetained = false): Promise<boolean> {
    try {
      await this.connection?.deliver(topic, payload, isRetained);
      return this.connection !== undefined;
    } catch (error) {
      if (error instanceof Refusal) this.reportRefusal([topic], error.message);
      return false;
    }
  }

  /** Publishes with QoS 0. Resolves when the bytes were taken; rejects where they are not sent. */
  async send(topic: string, payload: Buffer): Promise<void> {
    if (this.connection === undefined) throw new Error('not connected');
    await this.connection.send(topic, payload);
  }

  /** Finds out whether the broker is still there. */
  check(): void {
    this.connection?.check();
  }

  /** One line, and each topic once. */
  reportRefusal(topics: readonly string[], reason: string): void {
    const { name } = this.#broker;
    const news = topics.filter((topic) => !this.#refused.has(topic));
    if (news.length === 0) return;
    for (const topic of news) this.#refused.add(topic);
    this.#options.log.warn(`mqtt: ${name} refuses ${news.join(', ')}: ${reason}`);
  }

  /** Publishes `offline` and ends the connection before the machine sleeps; makes a new one when it has woken. */
  setAsleep(isAsleep: boolean): void {
    if (this.#isClosed || isAsleep === this.#isAsleep) return;
    this.#isAsleep = isAsleep;
    this.#stopTimer();
    if (isAsleep) {
      void this.#leave();
      this.#timer = this.#options.clock.setTimer(() => this.setAsleep(false), SLEEP_NOTICE_MS);
    } else {
      this.#backoff.reset();
      // A connection that is still ending is followed by the next.
      if (this.#connection === undefined) this.#connect();
    }
  }

  /** Publishes `offline`, and `more` before it, and ends. Takes less than half a second. */
  async close(more?: (connection: Connection) => Promise<void>): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    await this.#leave(more);
  }

  #connect(): void {
    const { availability, clock, onMessage } = this.#options;
    this.#sleep.set();
    this.#begunAtMs = clock.now();
    const connection = new Connection({
      onReady: () => this.#begin(connection),
      onMessage,
      onEnd: (ending) => this.#end(ending),
      broker: this.#broker,
      version: this.#version,
      will: availability === undefined ? undefined : { topic: availability, payload: this.#states.offline },
    });
    this.#connection = connection;
  }

  #begin(connection: Connection): void {
    const { availability, clock, log, beforeOnline, onOnline } = this.#options;
    this.#readyAtMs = clock.now();
    this.#isVersionKnown = true;
    this.#logged.clear();
    log.info(`mqtt: connected to ${this.#broker.name} (MQTT ${this.#version === 5 ? '5' : '3.1.1'})`);
    beforeOnline?.(connection);
    if (availability !== undefined) void this.deliver(availability, this.#states.online, true);
    onOnline(connection);
  }

  #end(ending: Ending): void {
    const { clock, onOffline } = this.#options;
    const nowMs = clock.now();
    const lastedMs = this.#readyAtMs === undefined ? undefined : nowMs - this.#readyAtMs;
    this.#readyAtMs = undefined;
    this.#connection = undefined;
    if (ending.wasReady) onOffline();
    if (this.#isClosed) return;
    if (this.#isAsleep) return;
    const isAtOnce = ending.isLeave || this.#chooseVersion(ending);
    if (!isAtOnce) this.#report(ending);
    const waitMs = isAtOnce ? 0 : this.#backoff.next(lastedMs, nowMs - this.#begunAtMs);
    this.#timer = clock.setTimer(() => this.#connect(), waitMs);
  }

  /** A broker that refuses version 5, or closes the connection at its sight, is asked with 3.1.1. */
  #chooseVersion({ isVersionRefused, isSilent }: Ending): boolean {
    if (isVersionRefused && this.#version === 5) {
      this.#version = 4;
      return true;
    }
    if (isSilent && !this.#isVersionKnown) this.#version = this.#version === 5 ? 4 : 5;
    return false;
  }

  #report({ reason, wasReady }: Ending): void {
    const { log } = this.#options;
    const { name } = this.#broker;
    if (this.#logged.has(reason)) return;
    this.#logged.add(reason);
    if (wasReady) log.warn(`mqtt: lost connection to ${name} (${reason}); reconnecting`);
    else log.warn(`mqtt: cannot connect to ${name} (${reason}); retrying`);
  }

  /** Never rejects. */
  async #leave(more?: (connection: Connection) => Promise<void>): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined) return;
    const farewells = this.connection === undefined ? [] : [more?.(connection), this.#sayOffline(connection)];
    // In real time, which is what the network takes.
    const limit = new Promise((resolve) => setTimeout(resolve, FAREWELL_MS).unref());
    await Promise.race([Promise.allSettled(farewells), limit]);
    await connection.leave();
  }

  async #sayOffline(connection: Connection): Promise<void> {
    const { availability } = this.#options;
    if (availability !== undefined) await connection.deliver(availability, this.#states.offline, true);
  }

  #stopTimer(): void {
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }
}

/** The part of a link that sessions of hubs use; tests play it. */
export type SessionLink = Pick<
  MqttLink,
  'connection' | 'send' | 'check' | 'endStale' | 'reportRefusal' | 'setAsleep' | 'close'
>;
export type OpenLink = (options: LinkOptions) => SessionLink;
