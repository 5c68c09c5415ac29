/** All WebSockets of a role: what they share, what is sent to several of them, and how they are opened and closed. */

import { randomBytes } from 'node:crypto';
import type { Caller } from '../../access/caller.ts';
import { type Clock, type Defer, deferToNextTurn } from '../../clock.ts';
import { isEnd } from '../../commands/power.ts';
import type { SleepInhibitor } from '../../commands/sleep-inhibitor.ts';
import { ServiceError, stackOf } from '../../errors.ts';
import { QUOTAS } from '../../fairness/limits.ts';
import type { Quota } from '../../fairness/quota.ts';
import { type Counting, ViewerCounts } from '../../http/clients/viewer-counts.ts';
import { CLOSE_CODES, type Exchange, type Socket } from '../../http/engine.ts';
import type { Gate } from '../../http/gate.ts';
import type { Listeners } from '../../listeners.ts';
import type { Log } from '../../log/log.ts';
import type { MachineDescription } from '../../machine/description.ts';
import type { CommandEnd, Machine } from '../../machine/machine.ts';
import { ALL_SCOPES, namesOfScopes } from '../../scopes.ts';
import { CarriedSocket, CarriedTopics } from '../../socket/carried-socket.ts';
import type { Carrier, CarrierEvents } from '../../socket/carrier.ts';
import { inSlices } from '../../streams/slices.ts';
import type { ClosingReason } from '../../wire/closing-reasons.ts';
import { PROTOCOL } from '../../wire/socket.ts';
import { Broadcasts } from './broadcasts.ts';
import { isHub, mayBeHub } from './hubs.ts';
import { frame, NOWHERE } from './messages.ts';
import type { Publisher } from './sample-broadcast.ts';
import { feedbackOfEnd } from './socket-commands.ts';
import type { AllMachines } from './socket-fleet.ts';
import { type SessionDeps, type SessionOwner, SocketSession } from './socket-session.ts';
import { TOPIC_ROWS, topicsWhere } from './topics.ts';

export interface SocketsOptions {
  /** Version of the program. */
  readonly version: string;
  /** How sentences name the role: `hostwire`, or `the hub of hostwire`. */
  readonly role: string;
  /** The one machine that it shows; absent: it shows several. */
  readonly describe?: () => MachineDescription;
  /** Has sleeps and shutdowns of the machine wait until hubs know of them; absent: it shows other machines. */
  readonly inhibitor?: Pick<SleepInhibitor, 'hold' | 'release' | 'rest'>;
  /** The flags that a greeting has. */
  readonly features: () => Readonly<Record<string, boolean>>;
  /** undefined: there is no machine of this id that the caller may know. */
  readonly find: (id: string, caller: Caller) => Machine | undefined;
  /** Absent: a service, which shows one machine. */
  readonly fleet?: AllMachines;
  readonly clock: Clock;
  readonly log: Log;
  readonly server: Publisher;
  readonly counts?: Counting;
  /** Counts what is kept for carried sockets; the engine counts that of its own. */
  readonly quota?: Pick<Quota, 'set' | 'release'>;
  /** Judges and notes the messages of those that were opened with a key. */
  readonly gate: Pick<Gate, 'hears' | 'noteRefusal'>;
  /** Notified of machines whose condition has changed, or that are gone. */
  readonly conditions?: Listeners<readonly [id: string]>;
  /** The ends of commands. */
  readonly ends: { readonly add: (listener: (end: CommandEnd) => void) => unknown };
  /** From one reading of a topic to the next. */
  readonly intervalMs: () => number;
  /** For tests. */
  readonly defer?: Defer;
}

/** Time awake after which a plan has not been carried out. */
const PLAN_MS = 60_000;

const closingFrame = (reason: ClosingReason): string => frame('closing', { reason }, NOWHERE);

/** The engine does not report published messages that wait in a socket, so each is asked this often. */
const REPORT_MS = 3000;

export class Sockets implements SessionOwner {
  readonly #options: SocketsOptions;
  readonly #defer: Defer;
  readonly #sessions = new Set<SocketSession>();
  readonly #counts: Counting;
  readonly #broadcasts: Broadcasts;
  readonly #deps: SessionDeps;
  readonly #carried = new CarriedTopics();
  /** Another one after each start. */
  readonly #run = randomBytes(8).toString('hex');
  #reportedAt = 0;
  /** The plan for the machine that sockets were notified of, and when. */
  #planned: { readonly plan: ClosingReason; readonly atMs: number } | undefined;

  constructor(options: SocketsOptions) {
    const { find, fleet, clock, log, server, conditions, ends, intervalMs, gate } = options;
    const { defer = deferToNextTurn, counts = new ViewerCounts() } = options;
    this.#options = options;
    this.#defer = defer;
    this.#counts = counts;
    this.#broadcasts = new Broadcasts({
      clock,
      publisher: {
        publish: (topic, bytes) => {
          server.publish(topic, bytes);
          this.#carried.publish(topic, bytes);
        },
      },
      tracksMembers: fleet !== undefined,
      intervalMs,
      onError: (error) => this.#reportUnread(error),
      onSample: () => this.#reportBuffered(),
      defer,
    });
    this.#deps = { owner: this, find, fleet, broadcasts: this.#broadcasts, gate, clock, log };
    conditions?.add((id) => {
      for (const session of this.#sessions) session.onCondition(id);
    });
    ends.add((end) => this.#sendEnd(end));
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Samples that were sent since the start, one per socket. */
  get sent(): number {
    return this.#broadcasts.sent;
  }

  /** Upgrades `exchange` and greets the client. `only`: the one machine of this socket. */
  open(exchange: Exchange, caller: Caller, only?: Machine): void {
    const session = new SocketSession(this.#deps, caller, only);
    const socket = exchange.startSocket(session, mayBeHub(caller) ? QUOTAS.hubAnswers.maxBytes : undefined);
    if (socket !== undefined) this.#begin(session, socket);
  }

  /** The same on a carrier, whose events are to be passed to what is returned. `caller`: who is at its other end. */
  serve(carrier: Carrier, caller: Caller, only: Machine): CarrierEvents {
    const session = new SocketSession(this.#deps, caller, only);
    const { address } = caller;
    const { quota } = this.#options;
    const socket = new CarriedSocket(carrier, session, { address, quota, topics: this.#carried });
    this.#begin(session, socket);
    return socket;
  }

  #begin(session: SocketSession, socket: Socket): void {
    const { caller } = session;
    this.#sessions.add(session);
    this.#counts.opened(caller);
    const { version, role, features, describe, clock } = this.#options;
    const message = `Connected to ${role} ${version}.`;
    const { key, scopes } = caller;
    const named = key === undefined ? {} : { key };
    // Absent: everything.
    const limits = scopes === ALL_SCOPES ? {} : { scopes: namesOfScopes(scopes) };
    const greeting = {
      version,
      protocol: PROTOCOL,
      run: this.#run,
      clock: clock.sinceBoot(),
      ...(describe === undefined ? {} : { machine: describe() }),
      features: features(),
      ...named,
      ...limits,
      message,
    };
    session.start(socket, frame('connected', greeting, NOWHERE));
    if (isHub(caller)) this.#options.inhibitor?.hold(session);
    if (this.#plan !== undefined) session.send(closingFrame(this.#plan));
  }

  /**
   * Cuts every socket that `passes` no longer lets through; a new configuration applies to the others, and to carried ones,
   * which did not come through the gate.
   */
  reconfigure(passes: (caller: Caller) => boolean): void {
    for (const session of [...this.#sessions])
      if (session.caller.request !== undefined && !passes(session.caller)) session.cut();
    this.#broadcasts.reconfigure();
  }

  get #plan(): ClosingReason | undefined {
    const { plan, atMs = 0 } = this.#planned ?? {};
    return this.#options.clock.now() - atMs < PLAN_MS ? plan : undefined;
  }

  /**
   * The machine is about to end its work as planned, which sockets are notified of; undefined: it is awake. Hubs come first,
   * and the machine waits until they have it.
   */
  announce(plan: ClosingReason | undefined): void {
    if (this.#plan === plan) return;
    const { inhibitor, clock } = this.#options;
    this.#planned = plan && { plan, atMs: clock.now() };
    const hubs = [...this.#sessions].filter(({ caller }) => isHub(caller));
    if (plan === undefined) {
      for (const hub of hubs) inhibitor?.hold(hub);
      inhibitor?.rest(false);
      return;
    }
    const text = closingFrame(plan);
    const unaware = new Set(hubs);
    const letGo = () => {
      if (isEnd(plan) && unaware.size === 0) inhibitor?.rest(true);
    };
    for (const hub of hubs)
      hub.sendTracked(text, () => {
        inhibitor?.release(hub);
        unaware.delete(hub);
        letGo();
      });
    letGo();
    const others = [...this.#sessions].filter(({ caller }) => !isHub(caller));
    inSlices(others, this.#defer, (session) => session.send(text));
  }

  /**
   * Closes all sockets with the reason `stop`, or the plan that they were notified of; returns how many still have to take
   * what they were sent before. `reason`: for the close frame.
   */
  close(reason: string): number {
    const text = closingFrame(this.#plan ?? 'stop');
    let full = 0;
    for (const session of [...this.#sessions]) {
      if (session.isFull) full++;
      session.send(text);
      session.end(CLOSE_CODES.goingAway, reason);
    }
    return full;
  }

  onBroken(session: SocketSession, error: unknown): void {
    this.#options.log.error(`a message to /api/ws failed: ${stackOf(error)}`);
    session.end(CLOSE_CODES.broken, 'the service failed; its log says why');
  }

  onFlood(session: SocketSession): void {
    const { address, isKeyed: keyed } = session.caller;
    this.#options.log.warn('/api/ws: a socket was closed: it sent too many messages', { address, keyed });
    session.end(CLOSE_CODES.policy, 'too many messages');
  }

  onClosed(session: SocketSession): void {
    if (!this.#sessions.delete(session)) return;
    this.#options.inhibitor?.release(session);
    this.#counts.closed(session.caller);
  }

  /** The errors of other machines are in their own logs. */
  #reportUnread(error: unknown): void {
    const { log, fleet } = this.#options;
    const isKnown = error instanceof ServiceError;
    if (!isKnown || fleet === undefined)
      log.error(`a topic cannot be read: ${isKnown ? String(error) : stackOf(error)}`);
  }

  #reportBuffered(): void {
    const now = this.#options.clock.now();
    if (now - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = now;
    inSlices([...this.#sessions], this.#defer, (session) => session.reportBuffered());
  }

  /** To the subscribers of the command's topic, but not to its senders, which have its steps. */
  #sendEnd({ host: id, owners, ...ended }: CommandEnd): void {
    const end = feedbackOfEnd(ended);
    if (end === undefined) return;
    const type = `${end.group}_feedback`;
    const bits = topicsWhere((name) => TOPIC_ROWS[name].group === end.group);
    const others = [...this.#sessions].filter(
      (session) => session.follows(id, bits) && !owners.includes(session),
    );
    inSlices(others, this.#defer, (session) =>
      session.send(frame(type, end.feedback, session.placeOf({ id }, undefined))),
    );
  }
}
