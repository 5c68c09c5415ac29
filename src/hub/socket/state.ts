/**
 * A topic of one machine that is no sample: media, processes, power. It is sent when it is another one than before. Where the
 * machine sends it by itself nothing is asked; otherwise it is asked for each interval while somebody follows it, once for all.
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
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  readonly intervalMs: () => number;
  readonly defer: Defer;
  readonly onError: (error: unknown) => void;
}

/** What a machine sends by itself may be lost on its way: it is asked for again after this time without a message. */
const TRUSTED_MS = 60_000;

/** Without detail, from a payload with detail: its first keys. */
function plainOf(name: TopicName, json: string): string {
  if (name !== 'media') return json;
  const { status, title, artist } = JSON.parse(json); // It is an object.
  return JSON.stringify({ status, title, artist });
}

export class HostState {
  readonly name: TopicName;
  readonly #options: HostStateOptions;
  readonly #followers = new Set<StateFollower>();
  /** The newest payload as JSON, without and with detail. */
  readonly #newest: [plain: string | undefined, detailed: string | undefined] = [undefined, undefined];
  #timer: unknown;
  /** Ends what the machine sends by itself. */
  #unfollow: (() => void) | undefined;
  /** What it has sent so far since it is there. */
  #pushes = 0;
  /** Until then that is trusted, and nothing is asked. */
  #trustedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: HostStateOptions) {
    this.#options = options;
    this.name = options.name;
  }

  get size(): number {
    return this.#followers.size;
  }

  follow(follower: StateFollower): void {
    this.#followers.add(follower);
    if (this.#timer !== undefined) return;
    this.#timer = this.#wait();
    const { host, name } = this.#options;
    this.#unfollow = host.followTopic?.(name, {
      onPayload: (json) => this.#takePushed(json),
      onLost: () => this.#distrust(),
    });
  }

  unfollow(follower: StateFollower): void {
    this.#followers.delete(follower);
    if (this.#followers.size > 0) return;
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
    this.#unfollow?.();
    this.#unfollow = undefined;
    this.#distrust();
  }

  /** The present payload, for a new follower; the first one's is what later ones are compared with. Rejects. */
  async begin(follower: StateFollower): Promise<string> {
    const { asking, host, name } = this.#options;
    const known = this.#isTrusted ? this.newestFor(follower) : undefined;
    if (known !== undefined) return known;
    const json = await readState(asking, host, name, follower.withDetail);
    this.#newest[this.#variantOf(follower)] ??= json;
    return json;
  }

  newestFor(follower: StateFollower): string | undefined {
    return this.#newest[this.#variantOf(follower)];
  }

  get #isTrusted(): boolean {
    return this.#options.clock.now() < this.#trustedUntilMs;
  }

  #trust(): void {
    this.#trustedUntilMs = this.#options.clock.now() + TRUSTED_MS;
  }

  #distrust(): void {
    this.#pushes = 0;
    this.#trustedUntilMs = Number.NEGATIVE_INFINITY;
  }

  #takePushed(json: string): void {
    const { name } = this.#options;
    this.#pushes++;
    this.#trust();
    const before = this.#newest[1];
    // As a service: what has only changed with detail, such as a pause, is a change without it too.
    const isMarked = name === 'media' && before !== undefined && playbackIn(before) !== playbackIn(json);
    this.#put(0, plainOf(name, json), isMarked);
    if (name === 'media') this.#put(1, json, false);
  }

  #put(variant: 0 | 1, json: string, isMarked: boolean): void {
    if (json === this.#newest[variant] && !isMarked) return;
    this.#newest[variant] = json;
    const outdated = [...this.#followers].filter((follower) => this.#variantOf(follower) === variant);
    inSlices(outdated, this.#options.defer, (follower) => {
      if (this.#followers.has(follower)) follower.sendState(this);
    });
  }

  #wait(): unknown {
    const { clock, intervalMs } = this.#options;
    return clock.setTimer(() => void this.#refresh(), intervalMs());
  }

  /** Never rejects. */
  async #refresh(): Promise<void> {
    const variants = new Set([...this.#followers].map((follower) => this.#variantOf(follower)));
    if (!this.#isTrusted) {
      for (const variant of variants) await this.#read(variant);
      if (this.#pushes > 0) this.#trust();
    }
    if (this.#followers.size > 0) this.#timer = this.#wait();
  }

  async #read(variant: 0 | 1): Promise<void> {
    const { asking, host, name, onError } = this.#options;
    const before = this.#pushes;
    try {
      const json = await readState(asking, host, name, variant === 1);
      // A message that came meanwhile is newer.
      if (before === this.#pushes) this.#put(variant, json, false);
    } catch (error) {
      // It is not there now, or the topic is switched off: the next interval asks again.
      if (!(error instanceof ServiceError)) onError(error);
    }
  }

  #variantOf({ withDetail }: StateFollower): 0 | 1 {
    return withDetail && this.name === 'media' ? 1 : 0;
  }
}

const playbackIn = (json: string): unknown => JSON.parse(json).playback; // It is an object.
