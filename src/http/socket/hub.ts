/** All open WebSockets: what they share, what is sent to all of them, and how they are closed. */
import { type Clock, type Defer, deferToNextTurn } from '../../clock.ts';
import type { Commands } from '../../commands/command.ts';
import type { Power } from '../../commands/power.ts';
import type { CurrentConfig } from '../../config/current.ts';
import { stackOf } from '../../errors.ts';
import { AddressCounts } from '../../fairness/address-counts.ts';
import type { HistoryQueries } from '../../history/queries.ts';
import type { Log } from '../../log/log.ts';
import type { SampleSink, SampleSource } from '../../stats/source.ts';
import type { Encoded } from '../../stats/view.ts';
import type { HistoryEvent } from '../../wire/history.ts';
import { PROTOCOL } from '../../wire/socket.ts';
import type { Caller } from '../clients/caller.ts';
import { CLOSE_CODES, type Exchange } from '../engine.ts';
import { type Asker, CommandDoor } from './commands.ts';
import { eventText } from './events.ts';
import type { Group } from './feedback.ts';
import type { Queried } from './queries.ts';
import { Session, type SessionOwner, type Shared } from './session.ts';
import { type Publisher, StatsShards } from './shards.ts';
import { inSlices } from './slices.ts';
import { State } from './states.ts';
import { EVENTS_BIT, TOPIC_NAMES } from './topic-names.ts';
import type { TopicRooms } from './topics.ts';

export interface HubOptions {
  /** The service's. */
  readonly version: string;
  readonly config: CurrentConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly source: SampleSource;
  readonly commands: Pick<Commands, 'prepare' | 'onReport'>;
  readonly rooms: TopicRooms & {
    readonly power: Pick<Power, 'onFeedback'>;
    readonly history: Queried['history'] & Pick<HistoryQueries, 'onEvent'>;
  };
  readonly server: Publisher;
  /** Counts the sockets of each address that were opened without the key. */
  readonly tally?: AddressCounts;
  /** For tests. */
  readonly defer?: Defer;
}

/** Nobody is notified of published messages that wait in a socket, so each is asked this often. */
const REPORT_MS = 3000;

export class Hub implements SampleSink, SessionOwner {
  readonly #options: HubOptions;
  readonly #defer: Defer;
  readonly #sessions = new Set<Session>();
  readonly #tally: AddressCounts;
  readonly #shards: StatsShards;
  #reportedAt = 0;
  readonly #states: readonly State[];
  readonly #shared: Shared;

  constructor(options: HubOptions) {
    const { config, clock, log, source, rooms, server, commands, defer = deferToNextTurn } = options;
    this.#options = options;
    this.#defer = defer;
    this.#tally = options.tally ?? new AddressCounts();
    this.#shards = new StatsShards({ server, defer });
    const onError = (error: unknown) => log.error(`a topic cannot be read: ${String(error)}`);
    this.#states = TOPIC_NAMES.map(
      (name) => new State(name, { rooms, config, source, clock, defer, onError }),
    );
    const door = new CommandDoor({
      commands,
      power: rooms.power,
      broadcast: (group, text, askers) => this.#broadcast(group, text, askers),
      log,
    });
    const { processes, history } = rooms;
    history.onEvent((event) => this.#sendEvent(event));
    const [shards, states] = [this.#shards, this.#states];
    this.#shared = { owner: this, clock, config, source, shards, states, processes, history, door };
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Samples that were sent since the start, one per socket. */
  get sent(): number {
    return this.#shards.sent;
  }

  /** Upgrades `exchange` and greets the client; does nothing when its peer has gone. */
  open(exchange: Exchange, caller: Caller): void {
    const session = new Session(this.#shared, caller);
    const socket = exchange.startSocket(session);
    if (socket === undefined) return;
    this.#sessions.add(session);
    if (!caller.isKeyed) this.#tally.add(caller.address);
    const { version, config } = this.#options;
    const { features } = config.current;
    session.start(
      socket,
      eventText('connected', {
        version,
        protocol: PROTOCOL,
        features,
        message: `Connected to hostwire ${version}.`,
      }),
    );
  }

  /** Sends `encoded` to every socket that subscribes to stats. */
  publish(encoded: Encoded): void {
    this.#shards.publish(encoded);
    const now = this.#options.clock.now();
    if (now - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = now;
    inSlices([...this.#sessions], this.#defer, (session) => session.reportKept());
  }

  /** Cuts every socket that `passes` no longer lets through; a new configuration applies to the others. */
  reconfigure(passes: (caller: Caller) => boolean): void {
    for (const session of [...this.#sessions]) if (!passes(session.caller)) session.cut();
    for (const state of this.#states) state.reconfigure();
  }

  /** Sends `reason` to all sockets and closes them; returns how many still have to take what they were sent before. */
  close(reason: string): number {
    const text = eventText('closing', { reason });
    let full = 0;
    for (const session of [...this.#sessions]) {
      if (session.isFull) full++;
      session.send(text);
      session.end(CLOSE_CODES.goingAway, reason);
    }
    return full;
  }

  onBroken(session: Session, error: unknown): void {
    this.#options.log.error(`a message to /api/ws failed: ${stackOf(error)}`);
    session.end(CLOSE_CODES.broken, 'the service failed; its log says why');
  }

  onFlood(session: Session): void {
    const { address, isKeyed: keyed } = session.caller;
    this.#options.log.warn('/api/ws: a socket was closed: it sent too many messages', { address, keyed });
    session.end(CLOSE_CODES.policy, 'too many messages');
  }

  onClosed(session: Session): void {
    if (!this.#sessions.delete(session)) return;
    const { address, isKeyed } = session.caller;
    if (!isKeyed) this.#tally.remove(address);
  }

  #sendEvent(event: HistoryEvent): void {
    const followers = [...this.#sessions].filter((session) => session.follows(EVENTS_BIT));
    const text = eventText('event', event);
    inSlices(followers, this.#defer, (session) => session.sendEvent(text));
  }

  #broadcast(group: Group, text: string, askers: ReadonlySet<Asker>): void {
    const bits = this.#states
      .filter(({ row }) => row.group === group)
      .reduce((set, state) => set | state.bit, 0);
    const others = [...this.#sessions].filter((session) => session.follows(bits) && !askers.has(session));
    inSlices(others, this.#defer, (session) => session.send(text));
  }
}
