/** A state that many sockets follow: built once when it may have changed, told to all when it has, in slices. */
import type { MessageId } from '../../wire/socket.ts';
import type { SocketEvent } from '../../wire/socket-events.ts';
import { eventTextOf } from './events.ts';
import { STATE_BITS, type StateName } from './topics.ts';

/** Messages in a turn of the event loop: each costs about 10 µs. */
const MESSAGES_A_TURN = 128;

/** Calls `visit` for each of `items`, few in a turn. */
export function inSlices<T>(
  items: readonly T[],
  defer: (slice: () => void) => void,
  visit: (item: T) => void,
): void {
  const goOn = (from: number) => {
    for (const item of items.slice(from, from + MESSAGES_A_TURN)) visit(item);
    if (from + MESSAGES_A_TURN < items.length) defer(() => goOn(from + MESSAGES_A_TURN));
  };
  goOn(0);
}

/** Who follows a state. */
export interface StateFollower {
  readonly withDetail: boolean;
  /** Sends `text` if there is room, else asks `tellNewest` for it when there is. */
  tellState(state: State, text: string): void;
}

export interface StateOptions {
  readonly name: StateName;
  readonly type: SocketEvent;
  /** It is the same with detail. */
  readonly isPlain?: boolean;
  readonly isEnabled: () => boolean;
  /** The state as JSON text. May reject: then nothing is told. */
  readonly build: (withDetail: boolean) => Promise<string>;
  readonly defer: (slice: () => void) => void;
  /** Told once, until it can be built again. */
  readonly onError: (error: unknown) => void;
}

export class State {
  readonly #options: StateOptions;
  readonly #followers = new Set<StateFollower>();
  /** What was told last, without and with detail. */
  readonly #told: [plain: string | undefined, detailed: string | undefined] = [undefined, undefined];
  #isRefreshing = false;
  #refreshesAgain = false;
  #hasFailed = false;

  constructor(options: StateOptions) {
    this.#options = options;
  }

  get name(): StateName {
    return this.#options.name;
  }

  get bit(): number {
    return STATE_BITS[this.#options.name];
  }

  get isEnabled(): boolean {
    return this.#options.isEnabled();
  }

  get followers(): ReadonlySet<StateFollower> {
    return this.#followers;
  }

  follow(follower: StateFollower): void {
    // Nobody looked at what has become of it since.
    if (this.#followers.size === 0) this.#told.fill(undefined);
    this.#followers.add(follower);
  }

  unfollow(follower: StateFollower): void {
    this.#followers.delete(follower);
  }

  /** The state now, as a message. */
  async read(withDetail: boolean, id: MessageId | undefined): Promise<string> {
    return eventTextOf(this.#options.type, await this.#options.build(withDetail), id);
  }

  /** As `read`, for who has just begun to follow: the first one needs to be told only of changes from then on. */
  async begin(follower: StateFollower, id: MessageId | undefined): Promise<string> {
    const { build, type } = this.#options;
    const json = await build(follower.withDetail);
    this.#told[this.#variantOf(follower)] ??= eventTextOf(type, json);
    return eventTextOf(type, json, id);
  }

  /** It may have changed: tells its followers if it has. */
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

  /** Tells `follower`, who had no room before. */
  tellNewest(follower: StateFollower): void {
    const text = this.#told[this.#variantOf(follower)];
    if (text !== undefined) follower.tellState(this, text);
  }

  #variantOf({ withDetail }: StateFollower): 0 | 1 {
    return withDetail && this.#options.isPlain !== true ? 1 : 0;
  }

  async #refresh(): Promise<void> {
    const { build, defer, onError, type } = this.#options;
    const changed = new Set<0 | 1>();
    for (const variant of new Set([...this.#followers].map((follower) => this.#variantOf(follower)))) {
      try {
        const text = eventTextOf(type, await build(variant === 1));
        this.#hasFailed = false;
        if (text === this.#told[variant]) continue;
        this.#told[variant] = text;
        changed.add(variant);
      } catch (error) {
        if (!this.#hasFailed) onError(error);
        this.#hasFailed = true;
      }
    }
    const those = [...this.#followers].filter((follower) => changed.has(this.#variantOf(follower)));
    inSlices(those, defer, (follower) => {
      if (this.#followers.has(follower)) this.tellNewest(follower);
    });
  }
}
