/** The machines behind a broker: the connection, who is there, and the leases by which their agents send samples. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../../config/config.ts';
import type { Connection } from '../../../mqtt/connection.ts';
import type { Message } from '../../../mqtt/line.ts';
import type { MqttLink, OpenBrokerLink } from '../../../mqtt/mqtt-link.ts';
import { AgentTopics, packetsOf } from '../../protocol/agent-topics.ts';
import { readStatus } from '../../protocol/status.ts';
import { Calls } from '../../remote/calls.ts';
import type { RemoteDeps } from '../../remote/deps.ts';
import type { Hosts } from '../../remote/hosts.ts';
import { LeaseRenewals, LOOK_MS } from '../../remote/lease-renewals.ts';
import { RemoteHost } from '../../remote/remote.ts';
import { Budget } from './budget.ts';
import { LeasedTopics } from './leased-topics.ts';
import { UnverifiedMachines } from './unverified-machines.ts';

type Settings = Config['hub']['mqtt'];

/** Viewers wait for the end of an outage, 5 s at most. */
const MAX_DELAY_MS = 4000;
/** A broker that has sent nothing for this long is asked whether it is there. */
const QUIET_MS = 5000;
/** Machines that have been heard; more are ignored: a client that may publish everywhere could make up any number. */
const MAX_HOSTS = 20_000;
/** The row of a machine in /api/hosts without its name and labels, id and reason of the greatest length included. */
const ROW_BYTES = 400;
/** Names and labels of all machines that have been heard; beyond it further ones are shown by their ids alone. */
const MAX_TEXT_BYTES = 4 * 2 ** 20;
/** Where more than this waits for the broker, nothing more is handed to it. */
const MAX_WAITING_BYTES = 4 * 2 ** 20;
/**
 * Times from the connection at which the states are read again, the second for busy servers. Servers of a cluster bring each
 * other what they keep with a delay: a hub that subscribes at one after a state was published at another, and before it has
 * arrived, gets it neither as published nor as kept.
 */
const READ_AGAIN_MS: readonly number[] = [10_000, 60_000];
/** Three of them may be lost on the way. */
const RENEW_MS = 3000;
const AWAY = 'the broker is unreachable';
const UNHEARD = 'no status from it yet';

export const nameOf = ({ name, username }: Settings): string =>
  name ?? (username !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(username) ? username : 'hub');

export class Broker {
  readonly #deps: RemoteDeps;
  readonly #hosts: Hosts;
  readonly #name: string;
  readonly #topics: AgentTopics;
  readonly #calls: Calls;
  readonly #link: MqttLink;
  readonly #known = new Map<string, RemoteHost>();
  readonly #leases: LeaseRenewals<RemoteHost>;
  readonly #leased: LeasedTopics;
  #timer: unknown;
  /** The moments at which the states of this connection are still to be read again. */
  #readAgainAtMs: readonly number[] = [];
  #isClosed = false;
  /** Machines that have not been heard yet. */
  readonly #unverified = new UnverifiedMachines<RemoteHost>();
  readonly #texts = new Budget<RemoteHost>(MAX_TEXT_BYTES);
  /** The complaints already logged: once per hub, because each may be about any number of machines. */
  readonly #complaints = new Set<string>();

  constructor(deps: RemoteDeps, hosts: Hosts, url: string, settings: Settings, openLink: OpenBrokerLink) {
    const { clock, log, random, times } = deps;
    this.#deps = deps;
    this.#hosts = hosts;
    this.#name = nameOf(settings);
    this.#topics = new AgentTopics(settings.topic, this.#name);
    this.#leased = new LeasedTopics(this.#topics);
    this.#calls = new Calls({
      hub: this.#name,
      clock,
      answerMs: times.answerMs,
      publish: (id, name, payload) => this.#send(this.#topics.command(id, name), payload),
    });
    this.#leases = new LeaseRenewals({
      clock,
      renewMs: RENEW_MS,
      isReady: () => this.#link.connection !== undefined,
      send: (host) =>
        this.#send(this.#topics.want(host.id), JSON.stringify({ hub: this.#name, ...host.interest })),
      // First, so that the first sample comes immediately.
      begin: (changed) => this.#subscribe(changed),
    });
    this.#link = openLink(url, settings, `hub-${this.#name}`, {
      availability: undefined,
      clock,
      log,
      random,
      maxDelayMs: MAX_DELAY_MS,
      beforeOnline: (connection) => this.#begin(connection),
      onOnline: () => undefined,
      onMessage: (message) => this.#take(message),
      onOffline: () => this.#lost(AWAY),
    });
    this.#timer = clock.setTimer(() => this.#look(), LOOK_MS);
  }

  /** Machines whose ids `hub.agents` no longer has are shown. */
  offerAgain(): void {
    for (const [id, { isClosed, status }] of this.#known) {
      if (!isClosed || this.#hosts.get(id) !== undefined) continue;
      this.#known.delete(id);
      const host = status === undefined ? undefined : this.#add(id);
      if (status === undefined || host === undefined) continue;
      host.say(status, true);
      this.#show(host);
    }
  }

  /** Ends all streams. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#deps.clock.clearTimer(this.#timer);
    this.#calls.lost('this hub is shutting down');
    for (const host of this.#known.values()) this.#hosts.remove(host);
    this.#leases.flush();
    await this.#link.close();
  }

  #begin(connection: Connection): void {
    for (const host of this.#known.values()) host.lost(UNHEARD);
    this.#unverified.begin();
    this.#listen(connection, [this.#topics.states, this.#topics.answers]);
    const nowMs = this.#deps.clock.now();
    this.#readAgainAtMs = READ_AGAIN_MS.map((afterMs) => nowMs + afterMs);
  }

  /** Subscribes with QoS 0: nothing is delivered again, and nats-server keeps no consumer for it. */
  #listen(connection: Connection, topics: readonly string[]): void {
    connection.subscribe(topics, { qos: 0 }).then(
      (refused) => this.#link.reportRefusal(refused, 'the subscription was refused'),
      () => undefined,
    );
  }

  #lost(reason: string): void {
    this.#leases.clear();
    this.#leased.clear();
    for (const host of this.#known.values()) host.lost(reason);
  }

  #take({ topic, payload, isRetained }: Message): void {
    const heard = this.#topics.read(topic);
    if (heard === undefined || this.#isClosed) return;
    const { id, kind } = heard;
    if (kind === 'status') this.#takeStatus(id, payload, isRetained);
    else if (isRetained) return;
    else if (kind === 'feedback') this.#known.get(id)?.answer(payload);
    else this.#known.get(id)?.take(kind, payload);
  }

  #takeStatus(id: string, payload: Buffer, isRetained: boolean): void {
    const known = this.#known.get(id);
    // Older than what the machine has said on this connection.
    if (isRetained && known?.isUp === true) return;
    // An empty message removes the retained one: a client has cleared it.
    if (payload.length === 0 && known !== undefined) this.#forget(known);
    const status = readStatus(payload);
    if (status === undefined) return;
    const host = known ?? this.#add(id);
    const labels = host?.labels;
    host?.say(status, isRetained);
    if (host !== undefined) this.#show(host);
    if (!isDeepStrictEqual(labels, host?.labels)) this.#hosts.noteLabels();
  }

  #add(id: string): RemoteHost | undefined {
    if (this.#heardCount >= MAX_HOSTS) {
      this.#complain(`more than ${MAX_HOSTS} machines; the others are not shown`);
      return undefined;
    }
    const { surplus } = this.#unverified;
    if (surplus !== undefined) {
      this.#complain('too many retained statuses of machines that do not answer; the oldest are dropped');
      this.#forget(surplus);
    }
    const host = new RemoteHost(id, {
      hub: this.#deps,
      calls: this.#calls,
      onInterest: (each) => this.#leases.changed(each),
      mayProbe: (each) => this.#unverified.mayProbe(each),
      onHeard: (each) => {
        if (this.#unverified.delete(each)) this.#admit(each);
      },
    });
    this.#known.set(id, host);
    this.#unverified.add(host);
    return host;
  }

  get #heardCount(): number {
    return this.#known.size - this.#unverified.size;
  }

  /** It has been heard for the first time. */
  #admit(host: RemoteHost): void {
    if (this.#heardCount > MAX_HOSTS) this.#forget(host);
    else this.#show(host);
    this.#hosts.noteLabels();
  }

  /** Shows a machine, as far as there is room for its row. */
  #show(host: RemoteHost): void {
    if (host.isClosed) return;
    const bytes = host.textBytes;
    const isShown = this.#hosts.get(host.id) === host;
    if (this.#unverified.has(host)) {
      host.isBrief = !this.#unverified.mayShow(host, ROW_BYTES + bytes);
      if (!host.isBrief) this.#offer(host, isShown);
      else if (isShown) this.#unverified.mayShow(host, ROW_BYTES);
      else this.#complain('too many retained statuses of machines that do not answer; not all are shown');
      return;
    }
    host.isBrief = !this.#texts.take(host, bytes);
    if (host.isBrief) this.#complain('the names and labels of the machines are too long; not all are shown');
    this.#offer(host, isShown);
  }

  #offer(host: RemoteHost, isShown: boolean): void {
    if (isShown || this.#hosts.add(host)) return;
    this.#deps.log.warn(`hub.mqtt: ignored the machine ${host.id}, which is in hub.agents and reached there`);
    host.close();
    this.#unverified.delete(host);
    this.#texts.release(host);
  }

  #complain(what: string): void {
    if (!this.#complaints.has(what)) this.#deps.log.warn(`hub.mqtt: ${what}`);
    this.#complaints.add(what);
  }

  #forget(host: RemoteHost): void {
    this.#known.delete(host.id);
    this.#unverified.delete(host);
    this.#texts.release(host);
    this.#hosts.remove(host);
    this.#calls.lost('its agent is offline', host.id);
  }

  /** Subscribes to the topics that are wanted now; the result ends the subscriptions that are not wanted any more. */
  #subscribe(changed: readonly RemoteHost[]): () => void {
    const { begun, over } = this.#leased.move(changed);
    const { connection } = this.#link;
    if (connection !== undefined) for (const topics of packetsOf(begun)) this.#listen(connection, topics);
    return () => {
      for (const topics of packetsOf(over)) connection?.unsubscribe(topics).catch(() => undefined);
    };
  }

  #look(): void {
    this.#timer = this.#deps.clock.setTimer(() => this.#look(), LOOK_MS);
    const { connection } = this.#link;
    if (connection === undefined) return;
    if (connection.quietMs > QUIET_MS) connection.check();
    const nowMs = this.#deps.clock.now();
    const [readAtMs = Number.POSITIVE_INFINITY] = this.#readAgainAtMs;
    if (nowMs >= readAtMs) {
      this.#readAgainAtMs = this.#readAgainAtMs.slice(1);
      this.#listen(connection, [this.#topics.states]);
    }
    this.#leases.look(nowMs);
    for (const host of this.#known.values())
      if (!host.isClosed && !this.#unverified.has(host)) host.look(nowMs);
    this.#unverified.look(nowMs, (host) => {
      if (this.#unverified.hasCapacity(host, ROW_BYTES + host.textBytes)) this.#show(host);
    });
  }

  /** With QoS 0; false: it was not sent, and will not be. */
  #send(topic: string, payload: string): boolean {
    const { connection } = this.#link;
    if (connection === undefined || connection.waitingBytes > MAX_WAITING_BYTES) return false;
    connection.send(topic, payload).catch(() => undefined);
    return true;
  }
}
