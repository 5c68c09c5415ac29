/** Who wants to hear of which event. */
import { callOut } from './environment.ts';
import type { SocketEvents } from './messages.ts';

type Listener = (value: unknown) => void;

export class Listeners {
  readonly #byType = new Map<string, Set<Listener>>();

  /** Returns what takes it back. */
  add<E extends keyof SocketEvents>(type: E, listener: (value: SocketEvents[E]) => void): () => void {
    const all = this.#byType.get(type) ?? new Set();
    this.#byType.set(type, all);
    // What `tell` is given for a type is of that type.
    all.add(listener as Listener);
    return () => void all.delete(listener as Listener); // As above.
  }

  /** `value` is what SocketEvents says for `type`; a type that nobody knows has no listeners. */
  tell(type: string, value: unknown): void {
    for (const listener of [...(this.#byType.get(type) ?? [])]) callOut(listener, value);
  }

  clear(): void {
    this.#byType.clear();
  }
}
