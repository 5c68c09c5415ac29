/** The machines behind a broker: those that have a status there, and a session with each that is online. */
import { randomBytes } from 'node:crypto';
import type { BrokerEntry } from '../config/rows/mqtt-rows.ts';
import { PLACES, QUOTAS, RATES } from '../fairness/limits.ts';
import { Bucket } from '../fairness/rate.ts';
import { parseObject } from '../json.ts';
import type { Machines } from '../machine/machines.ts';
import { RemoteMachine } from '../machine/remote.ts';
import type { RemoteDeps } from '../machine/remote-deps.ts';
import { VIEWERS_LAST_MS } from '../mqtt/backoff.ts';
import { brokerOf } from '../mqtt/broker-socket.ts';
import type { Connection } from '../mqtt/connection.ts';
import type { Message } from '../mqtt/line.ts';
import { MqttLink, type OpenLink, type SessionLink } from '../mqtt/link.ts';
import { BrokerCarrier, type Intake } from '../socket/broker/broker-carrier.ts';
import { readPayload } from '../socket/broker/payload.ts';
import { inTopic, outTopic, readTopic, statusTopic } from '../socket/broker/topics.ts';
import type { Failure } from '../socket/carrier.ts';

interface Known {
  /** undefined or closed: it is shown as `hub.agents`, or another broker, has it. */
  machine: RemoteMachine | undefined;
  carrier: BrokerCarrier | undefined;
  /** By its last status. */
  isOnline: boolean;
  /** The next session begins then, in place of one that there is. */
  nextAtMs: number;
  earliestMs: number;
}

/** A broker that has sent nothing for this long is asked whether it is there. */
const QUIET_MS = 5000;
const LOOK_MS = 100;
/** From one session of a machine to the next, at least. */
const PAUSE_MS = 1000;
/** Until a machine that did not answer is tried again. */
const RETRY_MS = 60_000;
/** Without viewers for this long a machine is pinged: the broker reports those that are gone. */
const UNWATCHED_MS = 60_000;
/**
 * Times from the connection at which the states are read again, the second for busy servers. Servers of a cluster bring each
 * other what they keep with a delay: a hub that subscribes at one after a state was published at another, and before it has
 * arrived, gets it neither as published nor as kept.
 */
const READ_AGAIN_MS: readonly number[] = [10_000, 60_000];
const NEVER = Number.POSITIVE_INFINITY;

const nameOf = ({ name, username }: BrokerEntry): string =>
  name ?? (username !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(username) ? username : 'hub');

/** Whether the machine is online; undefined: it is no status. */
function isOnlineBy(payload: Buffer): boolean | undefined {
  const state = payload.length > QUOTAS.brokerStatus.maxBytes ? undefined : parseObject(payload)?.['state'];
  return state === 'online' || state === 'offline' ? state === 'online' : undefined;
}

export class Broker {
  readonly #deps: RemoteDeps;
  readonly #machines: Machines;
  /** Its key in the configuration, for the log. */
  readonly #key: string;
  readonly #prefix: string;
  readonly #name: string;
  readonly #link: SessionLink;
  /** By id; the one whose session began longest ago is the first. */
  readonly #known = new Map<string, Known>();
  readonly #intake: Intake = { maxFrameBytes: QUOTAS.machineFrame.maxBytes, partBytes: 0 };
  readonly #openings: Bucket;
  #timer: unknown;
  /** The subscriptions of this connection are in force. */
  #isListening = false;
  /** The moments at which the states of this connection are still to be read again. */
  #readAgainAtMs: readonly number[] = [];
  #isCrowdReported = false;

  /** `openLink`: for tests. */
  constructor(
    deps: RemoteDeps,
    machines: Machines,
    key: string,
    entry: BrokerEntry,
    openLink: OpenLink = (options) =>
      new MqttLink(brokerOf(entry.url ?? '', entry, `hub-${nameOf(entry)}`), options),
  ) {
    const { clock, log, random } = deps;
    this.#deps = deps;
    this.#machines = machines;
    this.#key = key;
    this.#prefix = entry.topic;
    this.#name = nameOf(entry);
    this.#openings = new Bucket(RATES.brokerSessions, clock.now());
    this.#link = openLink({
      availability: undefined,
      clock,
      log,
      random,
      maxDelayMs: VIEWERS_LAST_MS,
      onOnline: (connection) => void this.#begin(connection),
      onMessage: (message) => this.#take(message),
      onOffline: () => this.#lost('the broker is unreachable'),
    });
    this.#look();
  }

  /** Machines whose ids `hub.agents` no longer has are shown. */
  offerAgain(): void {
    for (const [id, known] of this.#known) this.#offer(id, known);
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#deps.clock.clearTimer(this.#timer);
    for (const { machine } of this.#known.values()) if (machine !== undefined) this.#machines.remove(machine);
    this.#known.clear();
    await this.#link.close();
  }

  async #begin(connection: Connection): Promise<void> {
    this.#lost('no answer from it yet');
    const nowMs = this.#deps.clock.now();
    this.#readAgainAtMs = READ_AGAIN_MS.map((afterMs) => nowMs + afterMs);
    if (!(await this.#listen(connection, 'out')) || !(await this.#listen(connection, 'status'))) return;
    if (this.#link.connection !== connection) return;
    this.#isListening = true;
    for (const known of this.#known.values()) if (known.isOnline) known.nextAtMs = known.earliestMs;
    this.#openDue();
  }

  /** Subscribes with QoS 0: nothing is delivered again, and nats-server keeps no consumer for it. Never rejects. */
  async #listen(connection: Connection, kind: 'status' | 'out'): Promise<boolean> {
    const topic = kind === 'out' ? outTopic(this.#prefix, '+', this.#name) : statusTopic(this.#prefix, '+');
    try {
      const refused = await connection.subscribe([topic], { qos: 0 });
      this.#link.reportRefusal(refused, 'the subscription was refused');
      return true;
    } catch {
      return false;
    }
  }

  #lost(reason: string): void {
    this.#isListening = false;
    for (const known of this.#known.values()) {
      known.nextAtMs = NEVER;
      known.machine?.lost(reason);
    }
  }

  #take({ topic, payload, isRetained }: Message): void {
    const from = readTopic(this.#prefix, topic);
    if (from === undefined) return;
    const { id, kind, hub } = from;
    if (kind === 'status' && hub === '') this.#takeStatus(id, payload, isRetained);
    else if (kind === 'out' && hub === this.#name && !isRetained) {
      const carrier = this.#known.get(id)?.carrier;
      const read = carrier?.isOpen === true ? readPayload(payload) : undefined;
      if (read !== undefined && read.session === carrier?.session) carrier.take(read);
    }
  }

  #takeStatus(id: string, payload: Buffer, isRetained: boolean): void {
    const before = this.#known.get(id);
    // A client has cleared it away.
    if (payload.length === 0 && before?.machine !== undefined) this.#machines.remove(before.machine);
    if (payload.length === 0) this.#known.delete(id);
    const isOnline = isOnlineBy(payload);
    const known = isOnline === undefined ? undefined : (before ?? this.#add(id));
    if (known === undefined || isOnline === undefined) return;
    // Older than what the machine has sent on this connection.
    if (isRetained && known.machine?.isUp === true) return;
    known.isOnline = isOnline;
    this.#offer(id, known);
    if (!isOnline) {
      known.nextAtMs = NEVER;
      known.machine?.lost('its service is offline');
    } else if (!isRetained || known.carrier?.isOpen !== true) {
      // One that is published now is the first of a connection, on which there is no session yet.
      known.nextAtMs = known.earliestMs;
    }
  }

  #add(id: string): Known | undefined {
    if (this.#known.size >= PLACES.brokerMachines.max) {
      if (!this.#isCrowdReported)
        this.#deps.log.warn(
          `${this.#key}: more than ${PLACES.brokerMachines.max} machines; the others are not shown`,
        );
      this.#isCrowdReported = true;
      return undefined;
    }
    const session = { machine: undefined, carrier: undefined };
    const known: Known = { ...session, isOnline: false, nextAtMs: NEVER, earliestMs: 0 };
    this.#known.set(id, known);
    if (this.#machines.isConfigured(id))
      this.#deps.log.warn(
        `${this.#key}: ignored the machine ${id}, which is in hub.agents and reached there`,
      );
    return known;
  }

  /** Shows a machine that is at two brokers as the one at which it is online has it. */
  #offer(id: string, known: Known): void {
    if (known.machine?.isClosed === false) return;
    if (!known.isOnline && this.#machines.at(id) !== undefined) return;
    const machine = new RemoteMachine(id, {
      hub: this.#deps,
      unwatchedMs: UNWATCHED_MS,
      onEnd: (failure, hadBegun) => this.#retry(known, failure, hadBegun),
      onMissed: () => this.#hurry(known),
      onLabels: () => this.#machines.noteLabels(),
    });
    known.machine = this.#machines.add(machine) ? machine : undefined;
    if (known.machine !== undefined && known.isOnline) known.nextAtMs = known.earliestMs;
  }

  #retry(known: Known, { isFlood }: Failure, hadBegun: boolean): void {
    const { clock, times, random } = this.#deps;
    const nowMs = clock.now();
    if (isFlood === true) known.earliestMs = nowMs + times.floodMs * (1 - random() / 2);
    if (!known.isOnline) known.nextAtMs = NEVER;
    else if (hadBegun) known.nextAtMs = known.earliestMs;
    else known.nextAtMs = Math.max(known.earliestMs, nowMs + RETRY_MS);
  }

  /** A viewer wants it: also one that is offline by its status, which may be wrong. */
  #hurry(known: Known): void {
    if (this.#link.connection === undefined || known.carrier?.isOpen === true) return;
    known.nextAtMs = Math.min(known.nextAtMs, known.earliestMs);
  }

  #open(id: string, known: Known, machine: RemoteMachine): void {
    const carrier = new BrokerCarrier(randomBytes(8).toString('hex'), this.#intake, (payload) =>
      this.#link.send(inTopic(this.#prefix, id, this.#name), payload),
    );
    known.carrier = carrier;
    const peer = machine.connect();
    carrier.open(peer);
    peer.start(carrier);
  }

  #look(): void {
    const { clock } = this.#deps;
    this.#timer = clock.setTimer(() => this.#look(), LOOK_MS);
    const { connection } = this.#link;
    if (connection === undefined) return;
    if (connection.quietMs > QUIET_MS) this.#link.check();
    const [readAtMs = NEVER] = this.#readAgainAtMs;
    if (clock.now() >= readAtMs) {
      this.#readAgainAtMs = this.#readAgainAtMs.slice(1);
      void this.#listen(connection, 'status');
    }
    this.#openDue();
  }

  /** Begins the sessions whose time has come, as many as may be: all machines have their turns. */
  #openDue(): void {
    const nowMs = this.#deps.clock.now();
    for (const [id, known] of this.#known) {
      const { machine } = known;
      if (known.nextAtMs > nowMs || machine === undefined || machine.isClosed) continue;
      if (!this.#isListening || !this.#openings.takeOne(nowMs)) return;
      known.nextAtMs = NEVER;
      known.earliestMs = nowMs + PAUSE_MS;
      this.#known.delete(id);
      this.#known.set(id, known);
      this.#open(id, known, machine);
    }
  }
}
