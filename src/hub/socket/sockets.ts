/** All WebSockets of a hub: what they share, and how they are opened and closed. */
import { type Clock, deferToNextTurn } from '../../clock.ts';
import { stackOf } from '../../errors.ts';
import type { AddressCounts } from '../../fairness/address-counts.ts';
import type { Caller } from '../../http/clients/caller.ts';
import { CLOSE_CODES, type Exchange } from '../../http/engine.ts';
import { inSlices } from '../../http/socket/slices.ts';
import { bitOf, TOPIC_NAMES } from '../../http/socket/topic-names.ts';
import type { Listeners } from '../../listeners.ts';
import type { Log } from '../../log/log.ts';
import { PROTOCOL } from '../../wire/socket.ts';
import { endedFeedback } from './commands.ts';
import { Feeds } from './feeds.ts';
import { frame, NOWHERE } from './messages.ts';
import type { EndedCommand, SocketHost, SocketRooms } from './rooms.ts';
import { Session, type SessionOwner, type Shared } from './session.ts';
import { STATE_ROWS } from './state.ts';

export interface SocketsOptions {
  /** The hub's. */
  readonly version: string;
  readonly rooms: SocketRooms;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts the sockets of each address that were opened without the key. */
  readonly tally: AddressCounts;
  readonly conditions: Listeners<readonly [id: string]>;
  /** Of commands that clients of the hub have sent. */
  readonly ends: { readonly add: (listener: (ended: EndedCommand) => void) => unknown };
  /** From one question about a topic to the next. */
  readonly intervalMs: () => number;
}

export class HubSockets implements SessionOwner {
  readonly #options: SocketsOptions;
  readonly #sessions = new Set<Session>();
  readonly #feeds: Feeds;
  readonly #shared: Shared;

  constructor(options: SocketsOptions) {
    const { rooms, clock, log, conditions, ends, intervalMs } = options;
    this.#options = options;
    const onError = (error: unknown) => log.error(`a topic cannot be read: ${stackOf(error)}`);
    this.#feeds = new Feeds({ clock, asking: rooms, intervalMs, onError });
    this.#shared = { owner: this, rooms, feeds: this.#feeds, clock };
    conditions.add((id) => {
      for (const session of this.#sessions) session.onCondition(id);
    });
    ends.add((ended) => this.#sendEnd(ended));
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Samples that were sent since the start, one per socket. */
  get sent(): number {
    return this.#feeds.sent;
  }

  /** Upgrades `exchange`. `only`: the one machine of this socket. */
  open(exchange: Exchange, caller: Caller, only?: SocketHost): void {
    const session = new Session(this.#shared, caller, only);
    const socket = exchange.startSocket(session);
    if (socket === undefined) return;
    this.#sessions.add(session);
    if (!caller.isKeyed) this.#options.tally.add(caller.address);
    const { version } = this.#options;
    const message = `Connected to the hub of hostwire ${version}.`;
    // The flags are those of each machine.
    session.start(
      socket,
      frame('connected', { version, protocol: PROTOCOL, features: {}, message }, NOWHERE),
    );
  }

  /** Cuts every socket that `passes` no longer lets through. */
  judgeAgain(passes: (caller: Caller) => boolean): void {
    for (const session of [...this.#sessions]) if (!passes(session.caller)) session.cut();
  }

  /** Sends `reason` to all sockets and closes them; returns how many still have to take what they were sent before. */
  close(reason: string): number {
    const text = frame('closing', { reason }, NOWHERE);
    let full = 0;
    for (const session of [...this.#sessions]) {
      if (session.isFull) full++;
      session.send(text);
      session.end(CLOSE_CODES.goingAway, reason);
    }
    return full;
  }

  /** To those who follow the topic of the command, but not to its sender. */
  #sendEnd({ host: id, owner, ...ended }: EndedCommand): void {
    const message = endedFeedback(ended);
    if (message === undefined) return;
    const { type, feedback } = message;
    const names = TOPIC_NAMES.filter((name) => STATE_ROWS[name].group === message.group);
    const bits = names.reduce((set, name) => set | bitOf(name), 0);
    const others = [...this.#sessions].filter((session) => session !== owner && session.follows(id, bits));
    inSlices(others, deferToNextTurn, (session) =>
      session.send(frame(type, feedback, session.placeOf({ id }, undefined))),
    );
  }

  onBroken(session: Session, error: unknown): void {
    this.#options.log.error(`a message to a WebSocket failed: ${stackOf(error)}`);
    session.end(CLOSE_CODES.broken, 'the hub failed; its log says why');
  }

  onFlood(session: Session): void {
    const { address, isKeyed: keyed } = session.caller;
    this.#options.log.warn('a WebSocket was closed: it sent too many messages', { address, keyed });
    session.end(CLOSE_CODES.policy, 'too many messages');
  }

  onClosed(session: Session): void {
    if (!this.#sessions.delete(session)) return;
    const { address, isKeyed } = session.caller;
    if (!isKeyed) this.#options.tally.remove(address);
  }
}
