/** The machine's end of a broker: its status there, and a session with each hub that asks for one. */
import type { Caller } from '../../access/caller.ts';
import type { Clock } from '../../clock.ts';
import type { SleepInhibitor } from '../../commands/sleep-inhibitor.ts';
import { PLACES, QUOTAS, RATES, REMEMBERED } from '../../fairness/limits.ts';
import { Bucket } from '../../fairness/rate.ts';
import type { Log } from '../../log/log.ts';
import { VIEWERS_LAST_MS } from '../../mqtt/backoff.ts';
import type { Broker } from '../../mqtt/broker-socket.ts';
import type { Connection } from '../../mqtt/connection.ts';
import type { Message } from '../../mqtt/line.ts';
import { MqttLink, type OpenLink, type SessionLink } from '../../mqtt/link.ts';
import type { Scopes } from '../../scopes.ts';
import { type Carrier, type CarrierEvents, down } from '../carrier.ts';
import { BrokerCarrier, type Intake } from './broker-carrier.ts';
import { isOpening, readPayload } from './payload.ts';
import { inTopic, outTopic, readTopic, statusTopic } from './topics.ts';

export interface BrokerServerOptions {
  readonly broker: Broker;
  /** The prefix of the topics. */
  readonly topic: string;
  /** The id of this machine. */
  readonly id: string;
  /** In the status of this machine, beside its state: its run, name, labels and version. */
  readonly status: object;
  /** Serves a hub over `carrier`. */
  readonly serve: (carrier: Carrier, caller: Caller) => CarrierEvents;
  /** The scopes of hubs, with `hub`. */
  readonly scopes: Scopes;
  readonly inhibitor: Pick<SleepInhibitor, 'hold' | 'release'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** For tests. */
  readonly openLink?: OpenLink;
}

interface Hub {
  carrier: BrokerCarrier;
  heardAtMs: number;
  /** Limits how often it begins a session. */
  readonly openings: Bucket;
  /** Its sessions before, which a broker may repeat: none is begun again. */
  readonly earlier: Set<string>;
}

/** Without a frame for this long the hub is gone: it pings every 60 s. */
const SILENCE_MS = 180_000;
/** A hub without a session is forgotten after this time, where another one needs its place. */
const FORGET_MS = 60_000;
const LOOK_MS = 2500;
/** A broker that has sent nothing for this long is asked whether it is there, while there are sessions. */
const QUIET_MS = 10_000;

export class BrokerServer {
  readonly #options: BrokerServerOptions;
  readonly #link: SessionLink;
  readonly #hubs = new Map<string, Hub>();
  readonly #intake: Intake = { maxFrameBytes: QUOTAS.socketFrame.maxBytes, partBytes: 0 };
  #timer: unknown;
  #isCrowdReported = false;

  constructor(options: BrokerServerOptions) {
    const { broker, topic, id, status, inhibitor, clock, log, random } = options;
    const { openLink = (link) => new MqttLink(broker, link) } = options;
    this.#options = options;
    this.#link = openLink({
      availability: statusTopic(topic, id),
      states: {
        online: JSON.stringify({ state: 'online', ...status }),
        offline: JSON.stringify({ state: 'offline', ...status }),
      },
      clock,
      log,
      random,
      maxDelayMs: VIEWERS_LAST_MS,
      beforeOnline: (connection) => this.#listen(connection),
      onOnline: () => inhibitor.hold(this),
      onMessage: (message) => this.#receive(message),
      onOffline: () => {
        inhibitor.release(this);
        for (const { carrier } of this.#hubs.values()) carrier.lost(down('the broker is unreachable'));
      },
    });
    this.#look();
  }

  setAsleep(isAsleep: boolean): void {
    this.#link.setAsleep(isAsleep);
  }

  /** Takes less than half a second. Never rejects. */
  async close(): Promise<void> {
    this.#options.clock.clearTimer(this.#timer);
    await this.#link.close();
  }

  /** With QoS 0 nothing is delivered again, and nats-server keeps no consumer for it. */
  #listen(connection: Connection): void {
    const { topic, id } = this.#options;
    connection.subscribe([inTopic(topic, id, '+')], { qos: 0, marksRetained: true }).then(
      (refused) => this.#link.reportRefusal(refused, 'the subscription was refused'),
      () => undefined,
    );
  }

  #look(): void {
    const { clock } = this.#options;
    this.#timer = clock.setTimer(() => this.#look(), LOOK_MS);
    const nowMs = clock.now();
    const isQuiet = (this.#link.connection?.quietMs ?? 0) > QUIET_MS;
    for (const { carrier, heardAtMs } of this.#hubs.values()) {
      if (isQuiet && carrier.isOpen) this.#link.check();
      if (nowMs - heardAtMs > SILENCE_MS) carrier.lost(down('no message within the timeout'));
    }
  }

  #receive({ topic, payload, isRetained }: Message): void {
    const { topic: prefix, clock } = this.#options;
    const to = readTopic(prefix, topic);
    const read = readPayload(payload);
    // What arrives after a sleep of this machine may be as old as the sleep.
    if (isRetained || to?.kind !== 'in' || to.hub === '' || read === undefined || this.#link.endStale())
      return;
    const hub = this.#hubs.get(to.hub);
    if (hub?.carrier.session === read.session) {
      hub.heardAtMs = clock.now();
      hub.carrier.take(read);
    } else if (isOpening(read)) this.#open(to.hub, read.session);
  }

  #open(name: string, session: string): void {
    const { broker, topic, id, serve, scopes, clock } = this.#options;
    const nowMs = clock.now();
    const known = this.#hubs.get(name);
    if (known === undefined && !this.#hasPlace(nowMs)) return;
    if (known?.earlier.has(session) === true || known?.openings.takeOne(nowMs) === false) return;
    known?.carrier.lost(down('a newer session of this hub has taken its place'));
    const carrier = new BrokerCarrier(session, this.#intake, (payload) =>
      this.#link.send(outTopic(topic, id, name), payload),
    );
    const { openings = new Bucket(RATES.hubSessions, nowMs), earlier = new Set<string>() } = known ?? {};
    earlier.add(session);
    const [oldest] = earlier.size > REMEMBERED.brokerSessions ? earlier : [];
    if (oldest !== undefined) earlier.delete(oldest);
    this.#hubs.set(name, { carrier, heardAtMs: nowMs, openings, earlier });
    const address = `${broker.host}:${broker.port}`;
    // No key of `auth.keys` can have this name.
    const events = serve(carrier, { address, isKeyed: true, key: `mqtt.${name}`, scopes });
    carrier.accept(events);
  }

  /** Whether there may be one more hub, in the place of one that is gone. */
  #hasPlace(nowMs: number): boolean {
    if (this.#hubs.size < PLACES.brokerHubs.max) return true;
    for (const [name, { carrier, heardAtMs }] of this.#hubs)
      if (!carrier.isOpen && nowMs - heardAtMs > FORGET_MS) return this.#hubs.delete(name);
    if (!this.#isCrowdReported)
      this.#options.log.warn(`mqtt: more than ${PLACES.brokerHubs.max} hubs; the others are not served`);
    this.#isCrowdReported = true;
    return false;
  }
}
