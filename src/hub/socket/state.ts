/**
 * A topic of one machine that is no sample: media, processes, power. It is asked for each interval while somebody follows
 * it, once for all of them, and sent when it is another one than before.
 */
import type { Clock, Defer } from '../../clock.ts';
import { ServiceError } from '../../errors.ts';
import { inSlices } from '../../http/socket/slices.ts';
import type { Params } from '../../params.ts';
import type { TopicEvent, TopicName } from '../../wire/topics.ts';
import type { SocketAsking, SocketHost } from './rooms.ts';

/** How a machine is asked for a topic. */
interface StateRow {
  readonly event: TopicEvent;
  readonly what: string;
  readonly params: (withDetail: boolean, limit: number) => Params;
  /** The prefix of its commands, in whose feedback a failure is reported. */
  readonly group: 'media' | 'process' | 'power';
}

export const STATE_ROWS: Readonly<Record<TopicName, StateRow>> = {
  media: {
    event: 'media_update',
    what: 'media',
    params: (withDetail) => ({ detail: withDetail }),
    group: 'media',
  },
  processes: {
    event: 'process_list',
    what: 'processes',
    params: (_, limit) => ({ grouped: true, sort: 'cpu', limit }),
    group: 'process',
  },
  power: { event: 'power_update', what: 'power', params: () => ({}), group: 'power' },
};

/** As the service: the list that is pushed has so many rows and bytes at most. */
const MAX_ROWS = 200;
const MAX_BYTES = 48 * 1024;

/** The payload of a topic as JSON. Rejects with ServiceError. */
export async function readState(
  asking: Pick<SocketAsking, 'poll'>,
  host: SocketHost,
  name: TopicName,
  withDetail: boolean,
): Promise<string> {
  const { what, params } = STATE_ROWS[name];
  for (let limit = MAX_ROWS; ; limit = Math.floor(limit / 2)) {
    const { bytes } = await asking.poll(host.id, what, params(withDetail, Math.max(1, limit)));
    if (limit <= 1 || bytes.length <= MAX_BYTES || name !== 'processes') return bytes.toString();
  }
}

export interface StateFollower {
  readonly withDetail: boolean;
  /** Sends the newest payload if there is room; otherwise when there is. */
  sendState(state: HostState): void;
}

export interface HostStateOptions {
  readonly host: SocketHost;
  readonly name: TopicName;
  readonly asking: Pick<SocketAsking, 'poll'>;
  readonly clock: Pick<Clock, 'setTimer' | 'clearTimer'>;
  readonly intervalMs: () => number;
  readonly defer: Defer;
  readonly onError: (error: unknown) => void;
}

export class HostState {
  readonly name: TopicName;
  readonly #options: HostStateOptions;
  readonly #followers = new Set<StateFollower>();
  /** The newest payload as JSON, without and with detail. */
  readonly #newest: [plain: string | undefined, detailed: string | undefined] = [undefined, undefined];
  #timer: unknown;

  constructor(options: HostStateOptions) {
    this.#options = options;
    this.name = options.name;
  }

  get size(): number {
    return this.#followers.size;
  }

  follow(follower: StateFollower): void {
    this.#followers.add(follower);
    this.#timer ??= this.#wait();
  }

  unfollow(follower: StateFollower): void {
    this.#followers.delete(follower);
    if (this.#followers.size > 0) return;
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  /** The present payload, for a new follower; the first one's is what later ones are compared with. Rejects. */
  async begin(follower: StateFollower): Promise<string> {
    const { asking, host, name } = this.#options;
    const json = await readState(asking, host, name, follower.withDetail);
    this.#newest[this.#variantOf(follower)] ??= json;
    return json;
  }

  newestFor(follower: StateFollower): string | undefined {
    return this.#newest[this.#variantOf(follower)];
  }

  #wait(): unknown {
    const { clock, intervalMs } = this.#options;
    return clock.setTimer(() => void this.#refresh(), intervalMs());
  }

  /** Never rejects. */
  async #refresh(): Promise<void> {
    const variants = new Set([...this.#followers].map((follower) => this.#variantOf(follower)));
    for (const variant of variants) await this.#read(variant);
    if (this.#followers.size > 0) this.#timer = this.#wait();
  }

  async #read(variant: 0 | 1): Promise<void> {
    const { asking, host, name, defer, onError } = this.#options;
    try {
      const json = await readState(asking, host, name, variant === 1);
      if (json === this.#newest[variant]) return;
      this.#newest[variant] = json;
    } catch (error) {
      // It is not there now, or the topic is switched off: the next interval asks again.
      if (!(error instanceof ServiceError)) onError(error);
      return;
    }
    const outdated = [...this.#followers].filter((follower) => this.#variantOf(follower) === variant);
    inSlices(outdated, defer, (follower) => {
      if (this.#followers.has(follower)) follower.sendState(this);
    });
  }

  #variantOf({ withDetail }: StateFollower): 0 | 1 {
    return withDetail && this.name === 'media' ? 1 : 0;
  }
}
