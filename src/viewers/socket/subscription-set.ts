/** The subscriptions of one socket, one per machine. */
import type { Subscription } from './subscription.ts';

/** Most sockets have one: a Map of it would take 200 bytes, and there may be ten thousand sockets. */
export class SubscriptionSet {
  #first: Subscription | undefined;
  /** The others, by the id of the machine. */
  #others: Map<string, Subscription> | undefined;

  get size(): number {
    return (this.#first === undefined ? 0 : 1) + (this.#others?.size ?? 0);
  }

  /** A copy, in no order. */
  get all(): readonly Subscription[] {
    const others = this.#others?.values() ?? [];
    return this.#first === undefined ? [...others] : [this.#first, ...others];
  }

  /** `id`: of the machine. */
  find(id: string): Subscription | undefined {
    return this.#first?.machine.id === id ? this.#first : this.#others?.get(id);
  }

  /** There must be none of its machine. */
  add(subscription: Subscription): void {
    if (this.#first === undefined) this.#first = subscription;
    else {
      this.#others ??= new Map();
      this.#others.set(subscription.machine.id, subscription);
    }
  }

  remove(subscription: Subscription): void {
    if (this.#first === subscription) this.#first = undefined;
    else this.#others?.delete(subscription.machine.id);
  }
}
