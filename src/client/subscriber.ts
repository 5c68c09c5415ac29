/** Keeps the subscriptions of a socket: requests each change, and all of them again after a loss. */
import { onAborted } from './environment.ts';
import { ClientError } from './errors.ts';
import type { AnswerEvents } from './messages.ts';
import { answered, type Requests } from './pending.ts';
import { type Change, Subscriptions } from './subscriptions.ts';

export type Subscribed = AnswerEvents['subscribed'];

/** A caller that waits for the answer to a change. */
interface Waiting {
  readonly change: Change;
  readonly resolve: (answer: Subscribed) => void;
  readonly reject: (reason: unknown) => void;
}

export class Subscriber {
  readonly #requests: Requests;
  readonly #onRefused: (error: ClientError) => void;
  readonly #subscriptions = new Subscriptions();
  /** Changes that wait for the next connection. */
  readonly #held = new Set<Waiting>();

  /** `onRefused`: called when the service refuses, after a loss, what it had accepted before. */
  constructor(requests: Requests, onRefused: (error: ClientError) => void) {
    this.#requests = requests;
    this.#onRefused = onRefused;
  }

  /** Resolves when the service has answered, possibly over a later connection; rejects when it refuses. */
  change(change: Change, signal: AbortSignal | undefined): Promise<Subscribed> {
    if (this.#requests.end !== undefined) return Promise.reject(this.#requests.end);
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const stopListening = onAborted(signal, () => {
        // A change that was sent may have taken effect, so only an unsent one is dropped.
        if (this.#held.delete(waiting)) this.#subscriptions.drop(change);
        waiting.reject(signal?.reason);
      });
      const waiting: Waiting = {
        change,
        resolve(answer) {
          stopListening();
          resolve(answer);
        },
        reject(reason) {
          stopListening();
          reject(reason);
        },
      };
      this.#subscriptions.ask(change);
      if (this.#requests.isOpen) void this.#ask([waiting], ...this.#messageOf(change));
      else this.#held.add(waiting);
    });
  }

  /** A new connection is open, with no subscriptions yet. */
  async open(): Promise<void> {
    const held = [...this.#held];
    this.#held.clear();
    const { topics, detail } = this.#subscriptions.wanted;
    if (topics.length === 0) return this.#accept(held, { topics: [] });
    const error = await this.#ask(held, 'subscribe', { topics, mode: 'replace', detail });
    if (error === undefined || !this.#requests.isOpen) return;
    // Without the new changes, the earlier subscriptions may still be allowed.
    if (held.length > 0) await this.open();
    else this.#onRefused(error);
  }

  close(error: ClientError): void {
    for (const waiting of this.#held) waiting.reject(error);
    this.#held.clear();
  }

  #messageOf({ kind, topics }: Change): [op: string, data: object] {
    if (kind === 'remove') return ['unsubscribe', { topics }];
    return ['subscribe', { topics, mode: kind, detail: this.#subscriptions.wanted.detail }];
  }

  /** Returns the error that the service answered with, if it did. Never rejects. */
  async #ask(all: readonly Waiting[], op: string, data: object): Promise<ClientError | undefined> {
    try {
      const answer = await this.#requests.start({
        op,
        data,
        kind: 'subscription',
        limitMs: undefined,
        signal: undefined,
        take: answered<Subscribed>('subscribed'),
      });
      this.#accept(all, answer);
    } catch (error) {
      if (error instanceof ClientError && error.code === 'connection_lost') {
        for (const waiting of all) this.#held.add(waiting);
        return undefined;
      }
      for (const waiting of all) {
        this.#subscriptions.drop(waiting.change);
        waiting.reject(error);
      }
      if (error instanceof ClientError) return error;
    }
    return undefined;
  }

  #accept(all: readonly Waiting[], answer: Subscribed): void {
    for (const waiting of all) {
      this.#subscriptions.accept(waiting.change);
      waiting.resolve(answer);
    }
  }
}
