/** All open WebSockets: what they share, what is told to all of them, and how they end. */
import type { AccessRequest } from '../../access/request.ts';
import type { Commands, Follower, Report } from '../../commands/command.ts';
import type { PowerFeedback } from '../../commands/power-queue.ts';
import type { Config } from '../../config/schema.ts';
import { stackOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { listable, type ProcessQueries } from '../../processes/queries.ts';
import type { Encoded, View } from '../../stats/view.ts';
import type { MediaPayload } from '../../wire/media.ts';
import type { PowerPayload } from '../../wire/power.ts';
import { type MessageId, PROTOCOL } from '../../wire/socket.ts';
import type { Exchange } from '../uws/exchange.ts';
import { CLOSE_CODES } from '../uws/socket.ts';
import { type Asker, CommandDoor, type Group } from './commands.ts';
import { eventText, eventTextOf } from './events.ts';
import { answerRequest } from './queries.ts';
import { Session, type Shared } from './session.ts';
import { StatsShards } from './shards.ts';
import { inSlices, State } from './states.ts';

export interface SocketsOptions {
  readonly version: string;
  readonly commands: Commands;
  readonly features: () => Config['features'];
  readonly log: Log;
  readonly now: () => number;
  /** Runs `slice` in a later turn of the event loop, after waiting requests. */
  readonly defer: (slice: () => void) => void;
  readonly publish: (topic: string, bytes: Buffer) => void;
  readonly onSubscribed: (view: View) => void;
  readonly onUnsubscribed: (view: View) => void;
  readonly peek: (view: View) => Encoded | undefined;
  readonly latest: (view: View) => Promise<Encoded>;
  readonly intervalMs: () => number;
  readonly readMedia: (withDetail: boolean) => Promise<MediaPayload>;
  readonly readPower: () => Promise<PowerPayload>;
  /** undefined: processes can't be seen here. */
  readonly queries: ProcessQueries | undefined;
}

const STATE_OF_GROUP = { media: 'media', process: 'processes', power: 'power' } as const;

/** Rows of the list that is pushed; fewer where their names are long. */
const PUSHED_ROWS = 200;
/** So that it is no burden to a socket that is somewhat slow. */
const MOST_PUSHED_BYTES = 48 * 1024;

export class Sockets {
  readonly #options: SocketsOptions;
  readonly #sessions = new Set<Session>();
  readonly #shards: StatsShards;
  readonly #states: Readonly<Record<'media' | 'processes' | 'power', State>>;
  readonly #door: CommandDoor;
  readonly #shared: Shared;
  #listTimer: NodeJS.Timeout | undefined;

  constructor(options: SocketsOptions) {
    const { defer, features, log } = options;
    this.#options = options;
    this.#shards = new StatsShards({ publish: options.publish, defer });
    const onError = (error: unknown) => log.error(`a state can't be told: ${String(error)}`);
    this.#states = {
      media: new State({
        name: 'media',
        type: 'media_update',
        isEnabled: () => features().enable_media,
        build: async (withDetail) => JSON.stringify(await options.readMedia(withDetail)),
        defer,
        onError,
      }),
      processes: new State({
        name: 'processes',
        type: 'process_list',
        isPlain: true,
        isEnabled: () => features().enable_processes,
        build: () => this.#buildList(),
        defer,
        onError,
      }),
      power: new State({
        name: 'power',
        type: 'power_update',
        isPlain: true,
        isEnabled: () => true,
        build: async () => JSON.stringify(await options.readPower()),
        defer,
        onError,
      }),
    };
    this.#door = new CommandDoor({
      commands: options.commands,
      broadcast: (group, text, askers) => this.#broadcast(group, text, askers),
      log,
    });
    this.#shared = this.#share();
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Upgrades `exchange` and greets the client; nothing when its peer has gone. */
  open(exchange: Exchange, client: AccessRequest): void {
    const session = new Session(this.#shared, client);
    const socket = exchange.startSocket(session);
    if (socket === undefined) return;
    this.#sessions.add(session);
    const { version, features } = this.#options;
    session.start(socket, eventText('connected', { version, protocol: PROTOCOL, features: features() }));
  }

  /** Sends `encoded` to every socket that subscribes to stats. */
  publish(encoded: Encoded): void {
    this.#shards.publish(encoded);
  }

  /** The players have changed. */
  onMediaChange(): void {
    this.#states.media.refresh();
  }

  /** What is pending, recorded or allowed of power has changed. */
  onPowerChange(): void {
    this.#states.power.refresh();
  }

  onReport(report: Report): void {
    this.#door.report(report);
  }

  onPowerFeedback(feedback: PowerFeedback, followers: ReadonlySet<Follower>): void {
    this.#door.reportPower(feedback, followers);
  }

  /** Cuts every socket that `passes` no longer lets through; to the others new settings apply. */
  reconfigure(passes: (client: AccessRequest) => boolean): void {
    for (const session of [...this.#sessions]) if (!passes(session.client)) session.cut();
    for (const state of Object.values(this.#states)) state.refresh();
    this.#updateListTimer(true);
  }

  /** Says why and closes them all; how many have yet to take what they were sent before. */
  close(reason: string): number {
    clearInterval(this.#listTimer);
    const text = eventText('closing', { reason });
    let full = 0;
    for (const session of [...this.#sessions]) {
      if (session.isFull) full++;
      session.send(text);
      session.end(CLOSE_CODES.goingAway, reason);
    }
    return full;
  }

  #share(): Shared {
    const { now, log, features, queries, onSubscribed, onUnsubscribed } = this.#options;
    const states = Object.values(this.#states);
    const readStats = (view: View, id: MessageId | undefined) => this.#readStats(view, id);
    const asking = { features, states, readStats, queries, door: this.#door };
    return {
      now,
      states,
      moveDemand: (from, to) => {
        if (to !== undefined) onSubscribed(to);
        if (from !== undefined) onUnsubscribed(from);
      },
      joinShard: (view) => this.#shards.join(view),
      leaveShard: (shard) => this.#shards.leave(shard),
      onFollowed: () => this.#updateListTimer(false),
      readStats,
      answer: (asker, request) => answerRequest(asking, asker, request),
      onBroken: (session, error) => {
        log.error(`a message to /api/ws failed: ${stackOf(error)}`);
        session.end(CLOSE_CODES.broken, 'the service failed; its log says why');
      },
      onClosed: (session) => this.#sessions.delete(session),
    };
  }

  #readStats(view: View, id: MessageId | undefined): string | Promise<string> {
    const textOf = (encoded: Encoded) => eventTextOf('system_stats', encoded.json(view), id);
    const young = this.#options.peek(view);
    return young === undefined ? this.#options.latest(view).then(textOf) : textOf(young);
  }

  async #buildList(): Promise<string> {
    const list = await listable(this.#options.queries).list({
      sort: 'cpu',
      limit: PUSHED_ROWS,
      query: '',
      isGrouped: true,
    });
    let json = JSON.stringify(list);
    for (let rows = PUSHED_ROWS; Buffer.byteLength(json) > MOST_PUSHED_BYTES; ) {
      rows = Math.floor(rows / 2);
      json = JSON.stringify({ ...list, processes: list.processes.slice(0, rows) });
    }
    return json;
  }

  /** Runs while somebody follows the list. */
  #updateListTimer(isAnew: boolean): void {
    const isNeeded = this.#states.processes.followers.size > 0;
    if (!isAnew && isNeeded === (this.#listTimer !== undefined)) return;
    clearInterval(this.#listTimer);
    const push = () => this.#states.processes.refresh();
    this.#listTimer = isNeeded ? setInterval(push, this.#options.intervalMs()) : undefined;
  }

  #broadcast(group: Group, text: string, askers: ReadonlySet<Asker>): void {
    const { bit } = this.#states[STATE_OF_GROUP[group]];
    const others = [...this.#sessions].filter((session) => session.follows(bit) && !askers.has(session));
    inSlices(others, this.#options.defer, (session) => session.send(text));
  }
}
