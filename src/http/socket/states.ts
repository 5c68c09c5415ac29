/**
 * A topic that many sockets subscribe to. Read once when it may have changed; sent to all subscribers, in slices, when
 * it has.
 */
import type { Clock, Defer } from '../../clock.ts';
import type { CurrentConfig } from '../../config/current.ts';
import type { SampleSource } from '../../stats/source.ts';
import type { MessageId } from '../../wire/socket.ts';
import type { TopicName } from '../../wire/topics.ts';
import { eventTextOf } from './events.ts';
import { inSlices } from './slices.ts';
import { bitOf } from './topic-names.ts';
import { TOPIC_ROWS, type TopicRooms, type TopicRow } from './topics.ts';

/** A subscriber of a topic. */
export interface StateFollower {
  readonly withDetail: boolean;
  /** Sends `text` if there is room; otherwise calls `sendNewest` when there is. */
  sendState(state: State, text: string): void;
}

export interface StateOptions {
  readonly rooms: TopicRooms;
  readonly config: CurrentConfig;
  readonly source: Pick<SampleSource, 'intervalMs'>;
  readonly clock: Clock;
  readonly defer: Defer;
  /** Called once per failure, until the topic can be read again. */
  readonly onError: (error: unknown) => void;
}

export class State {
  readonly name: TopicName;
  readonly bit: number;
  readonly row: TopicRow;
  readonly #options: StateOptions;
  readonly #followers = new Set<StateFollower>();
  /** The message that was sent last, without and with detail. */
  readonly #sent: [plain: string | undefined, detailed: string | undefined] = [undefined, undefined];
  /** The mark that it had then. */
  #mark: string | undefined;
  #timer: unknown;
  #isRefreshing = false;
  #refreshesAgain = false;
  #hasFailed = false;

  constructor(name: TopicName, options: StateOptions) {
    this.name = name;
    this.bit = bitOf(name);
    this.row = TOPIC_ROWS[name];
    this.#options = options;
    this.row.watch?.(options.rooms, () => this.refresh());
  }

  get isEnabled(): boolean {
    const { feature } = this.row;
    return feature === undefined || this.#options.config.current.features[feature];
  }

  follow(follower: StateFollower): void {
    if (this.#followers.size === 0) {
      // It was not read while it had no followers.
      this.#sent.fill(undefined);
      this.#mark = undefined;
      if (this.row.watch === undefined) this.#refreshLater();
    }
    this.#followers.add(follower);
  }

  unfollow(follower: StateFollower): void {
    this.#followers.delete(follower);
    if (this.#followers.size === 0) this.#stopTimer();
  }

  /** The message with the present state. Rejects as its room does. */
  async read(withDetail: boolean, id: MessageId | undefined): Promise<string> {
    return eventTextOf(this.row.event, await this.row.read(this.#options.rooms, withDetail), id);
  }

  /** Like `read`, for a new follower; the first follower's message becomes the baseline for later changes. */
  async begin(follower: StateFollower, id: MessageId | undefined): Promise<string> {
    const json = await this.row.read(this.#options.rooms, follower.withDetail);
    this.#sent[this.#variantOf(follower)] ??= eventTextOf(this.row.event, json);
    this.#mark ??= await this.row.mark?.(this.#options.rooms);
    return eventTextOf(this.row.event, json, id);
  }

  /** It may have changed: sends it to its followers if it has. */
  refresh(): void {
    if (this.#followers.size === 0 || !this.isEnabled) return;
    this.#refreshesAgain = this.#isRefreshing;
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    void this.#refresh().finally(() => {
      this.#isRefreshing = false;
      if (this.#refreshesAgain) this.refresh();
    });
  }

  /** A new configuration, perhaps with another interval, is in effect. */
  reconfigure(): void {
    this.refresh();
    if (this.#timer === undefined) return;
    this.#stopTimer();
    this.#refreshLater();
  }

  /** For a follower that had no room before. */
  sendNewest(follower: StateFollower): void {
    const text = this.#sent[this.#variantOf(follower)];
    if (text !== undefined) follower.sendState(this, text);
  }

  #refreshLater(): void {
    const { clock, source } = this.#options;
    this.#timer = clock.setTimer(() => {
      this.#refreshLater();
      this.refresh();
    }, source.intervalMs);
  }

  #stopTimer(): void {
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  #variantOf({ withDetail }: StateFollower): 0 | 1 {
    return withDetail && this.row.hasDetail ? 1 : 0;
  }

  async #refresh(): Promise<void> {
    const { row } = this;
    const { rooms, defer, onError } = this.#options;
    const changed = new Set<0 | 1>();
    const mark = await row.mark?.(rooms).catch(() => undefined);
    const isMarked = this.#mark !== undefined && mark !== this.#mark;
    this.#mark = mark;
    for (const variant of new Set([...this.#followers].map((follower) => this.#variantOf(follower)))) {
      try {
        const text = eventTextOf(row.event, await row.read(rooms, variant === 1));
        this.#hasFailed = false;
        if (text === this.#sent[variant] && !isMarked) continue;
        this.#sent[variant] = text;
        changed.add(variant);
      } catch (error) {
        if (!this.#hasFailed) onError(error);
        this.#hasFailed = true;
      }
    }
    const outdated = [...this.#followers].filter((follower) => changed.has(this.#variantOf(follower)));
    inSlices(outdated, defer, (follower) => {
      if (this.#followers.has(follower)) this.sendNewest(follower);
    });
  }
}
