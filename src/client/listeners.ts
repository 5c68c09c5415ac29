/** The listeners of a socket, by event type. */
import { callOut } from './environment.ts';

type Listener = (value: unknown) => void;

/** `Events`: the value of each type. */
export class Listeners<Events> {
  readonly #byType = new Map<string, Set<Listener>>();

  /** Returns a function that removes the listener. */
  add<E extends keyof Events & string>(type: E, listener: (value: Events[E]) => void): () => void {
    const all = this.#byType.get(type) ?? new Set();
    this.#byType.set(type, all);
    // `emit` is called with the value that belongs to the type.
    all.add(listener as Listener);
    return () => void all.delete(listener as Listener); // As above.
  }

  /** `value` has the type that Events has for `type`; an unknown type has no listeners. */
  emit(type: string, value: unknown): void {
    for (const listener of [...(this.#byType.get(type) ?? [])]) callOut(listener, value);
  }

  clear(): void {
    this.#byType.clear();
  }
}
