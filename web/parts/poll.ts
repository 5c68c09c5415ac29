/** Polls the service, only while the page is shown and connected, and never with two requests at a time. */
import { useEffect, useState } from 'preact/hooks';
import { getJson, sentenceOf } from '../requests.ts';
import { useValue } from '../value.ts';
import { connection } from '../visit.ts';

export interface Polled<T> {
  /** The last answer; undefined after two polls in a row that failed: what is shown does not vanish because of one. */
  readonly value: T | undefined;
  /** Why the last poll failed. */
  readonly error: string | undefined;
  /** Polls now. */
  readonly refresh: () => void;
}

/** `path` undefined: no polling. */
export function usePolled<T>(path: string | undefined, everyMs: number): Polled<T> {
  const [state, show] = useState<{
    readonly path: string;
    readonly value?: T | undefined;
    readonly error?: string;
  }>();
  const [turn, next] = useState(0);
  const isLive = useValue(connection) === 'live';
  useEffect(() => {
    if (path === undefined || !isLive) return undefined;
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      const answer = await getJson<T>(path, ended.signal).then(
        (value) => ({ value }),
        (error: unknown) => ({ error: sentenceOf(error) }),
      );
      if (ended.signal.aborted) return;
      show((before) => {
        const isFirstFailure = before?.path === path && before.error === undefined;
        return { path, ...(isFirstFailure && { value: before.value }), ...answer };
      });
      timer = setTimeout(ask, everyMs);
    };
    void ask();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [path, everyMs, isLive, turn]);
  return { value: state?.value, error: state?.error, refresh: () => next((n) => n + 1) };
}
