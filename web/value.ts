/** An observable value; a component is rendered again only when the part that it shows has changed. */
import { useEffect, useState } from 'preact/hooks';

export class Value<T> {
  #current: T;
  readonly #watchers = new Set<(value: T) => void>();

  constructor(initial: T) {
    this.#current = initial;
  }

  get current(): T {
    return this.#current;
  }

  set(value: T): void {
    if (Object.is(value, this.#current)) return;
    this.#current = value;
    for (const watch of this.#watchers) watch(value);
  }

  watch(watcher: (value: T) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }
}

export function useValue<T>(value: Value<T>): T {
  const [shown, show] = useState<T>(value.current);
  useEffect(() => {
    // useState would call a function to get the next state.
    const update = (next: T) => show(() => next);
    update(value.current);
    return value.watch(update);
  }, [value]);
  return shown;
}
