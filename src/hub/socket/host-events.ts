/** The events of watch rules of one machine, which sends them while somebody follows them. */
import type { Defer } from '../../clock.ts';
import { inSlices } from '../../http/socket/slices.ts';
import type { SocketHost } from './rooms.ts';

export interface EventFollower {
  /** It is lost where there is no room. */
  sendEvent(json: string): void;
}

export class HostEvents {
  readonly #host: SocketHost;
  readonly #defer: Defer;
  readonly #followers = new Set<EventFollower>();
  #end: (() => void) | undefined;

  constructor(host: SocketHost, defer: Defer) {
    this.#host = host;
    this.#defer = defer;
  }

  get size(): number {
    return this.#followers.size;
  }

  follow(follower: EventFollower): void {
    this.#followers.add(follower);
    this.#end ??= this.#host.followTopic?.('events', {
      onPayload: (json) => this.#send(json),
      // The history has what is missed.
      onLost: () => undefined,
    });
  }

  unfollow(follower: EventFollower): void {
    this.#followers.delete(follower);
    if (this.#followers.size > 0) return;
    this.#end?.();
    this.#end = undefined;
  }

  #send(json: string): void {
    inSlices([...this.#followers], this.#defer, (follower) => {
      if (this.#followers.has(follower)) follower.sendEvent(json);
    });
  }
}
