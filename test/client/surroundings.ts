/** The environment of a client under test: a clock that the test moves, no randomness, and a fake network. */
import { ENVIRONMENT, type Environment } from '#src/client/environment.js';
import { FakeClock } from '../helpers/fakes/clock.ts';

/** A request of the client. */
export interface Asked {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
  /** Aborted when the client has dropped the request. */
  readonly signal: AbortSignal | undefined;
  readonly answer: (response: Response) => void;
  /** As when there is no server. */
  readonly fail: (reason?: unknown) => void;
}

/** A body that is sent in pieces. */
export class Body {
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Whether the reader has cancelled it. */
  isCancelled = false;
  readonly stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      this.#controller = controller;
    },
    cancel: () => {
      this.isCancelled = true;
    },
  });

  send(text: string): void {
    this.#controller?.enqueue(new TextEncoder().encode(text));
  }

  end(): void {
    this.#controller?.close();
  }

  break(reason: unknown): void {
    this.#controller?.error(reason);
  }
}

/** Answers with a stream of events and returns its body. */
export function openStream(asked: Asked | undefined): Body {
  const body = new Body();
  asked?.signal?.addEventListener('abort', () => {
    // As fetch does: the reader gets an error when the request is aborted.
    if (!body.isCancelled) body.break(new Error('aborted'));
  });
  asked?.answer(new Response(body.stream, { headers: { 'content-type': 'text/event-stream' } }));
  return body;
}

export interface Surroundings {
  readonly environment: Environment;
  readonly clock: FakeClock;
  /** In order, including the answered ones. */
  readonly asked: readonly Asked[];
}

export function surroundings(change: Partial<Pick<Environment, 'random' | 'timing'>> = {}): Surroundings {
  const clock = new FakeClock();
  const asked: Asked[] = [];
  const answerLater = (url: Parameters<typeof fetch>[0], init: RequestInit = {}) =>
    new Promise<Response>((resolve, reject) => {
      const signal = init.signal ?? undefined;
      signal?.addEventListener('abort', () => reject(signal.reason));
      asked.push({
        url: new URL(String(url)),
        method: init.method ?? 'GET',
        headers: new Headers(init.headers),
        body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
        signal,
        answer: resolve,
        fail: (reason = new TypeError('fetch failed')) => reject(reason),
      });
    });
  return {
    clock,
    asked,
    environment: {
      ...ENVIRONMENT,
      now: clock.now,
      setTimer: clock.setTimer,
      clearTimer: clock.clearTimer,
      random: () => 0,
      // Its other overload takes no address that a client would use.
      fetch: answerLater as typeof fetch,
      ...change,
    },
  };
}
