/**
 * Polls the service, only while the page is shown and connected (or, where that is wanted, not), and never with two requests at a time: components that ask
 * for the same share the answers.
 */
import { useEffect, useState } from 'preact/hooks';
import { getJson, sentenceOf } from '../requests.ts';
import { useValue, Value } from '../value.ts';
import { type Connection, connection } from '../visit.ts';

export interface Polled<T> {
  /** The last answer; undefined after two polls in a row that failed: what is shown does not vanish because of one. */
  readonly value: T | undefined;
  /** Why the last poll failed. */
  readonly error: string | undefined;
  /** Polls now. */
  readonly refresh: () => void;
}

interface Answer {
  readonly path: string;
  readonly value?: unknown;
  readonly error?: string;
  /** Polls in a row that failed. */
  readonly failures: number;
}

class Poll {
  readonly answer = new Value<Answer | undefined>(undefined);
  readonly #path: string;
  readonly #everyMs: number;
  #users = 0;
  #asking = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(path: string, everyMs: number) {
    this.#path = path;
    this.#everyMs = everyMs;
  }

  join(): void {
    if (this.#users++ === 0) void this.ask();
  }

  leave(): void {
    if (--this.#users > 0) return;
    this.#stop();
    polls.delete(this.#path);
  }

  async ask(): Promise<void> {
    this.#stop();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const path = this.#path;
    const failures = (this.answer.current?.failures ?? 0) + 1;
    const answer = await getJson<unknown>(path, signal).then(
      (value) => ({ path, value, failures: 0 }),
      (error: unknown) => ({ path, error: sentenceOf(error), failures }),
    );
    if (signal.aborted) return;
    this.answer.set(answer);
    this.#timer = setTimeout(() => void this.ask(), this.#everyMs);
  }

  #stop(): void {
    this.#asking.abort();
    clearTimeout(this.#timer);
  }
}

/** By path. */
const polls = new Map<string, Poll>();

/** `path` undefined: no polling. `T` is the service's own type for it. `during`: the state of the page in which it polls. */
export function usePolled<T>(
  path: string | undefined,
  everyMs: number,
  during: Connection = 'live',
): Polled<T> {
  const [state, show] = useState<Answer>();
  const isOn = useValue(connection) === during;
  useEffect(() => {
    if (path === undefined || !isOn) return undefined;
    const poll = polls.get(path) ?? new Poll(path, everyMs);
    polls.set(path, poll);
    const take = (next: Answer | undefined) =>
      show((before) =>
        next?.failures === 1 && before?.path === path ? { ...next, value: before.value } : next,
      );
    if (poll.answer.current !== undefined) take(poll.answer.current);
    const stop = poll.answer.watch(take);
    poll.join();
    return () => {
      stop();
      poll.leave();
    };
  }, [path, everyMs, isOn]);
  return {
    value: state?.value as T | undefined, // The type of the path.
    error: state?.error,
    refresh: () => void polls.get(path ?? '')?.ask(),
  };
}
