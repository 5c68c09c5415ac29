/** Answers about processes, each built and encoded once for all clients that ask the same about the same window. */
import type { Clock } from '../clock.ts';
import { Clients } from '../fairness/fair-queue.ts';
import type { ProcessWindow } from './shares.ts';
import { FairTurns } from './turns.ts';

/** Maximum size of kept answers of the current window; an ungrouped list of 4,000 processes has about a megabyte. */
const MAX_CACHED_CHARACTERS = 8 * 1024 * 1024;
/** After this time the window is no longer fresh, so no client will ask about it. */
const CACHED_MS = 2000;

/** A client's question about a window. */
export interface Question {
  readonly window: ProcessWindow;
  /** Questions that are equal must have equal answers. */
  readonly text: string;
  /** The client whose turn it uses. */
  readonly client: string;
  /** False: the answer is shared only while it is being made. */
  readonly isRetained: boolean;
}

/** An answer, and the clients that have asked for it: it is made in the turn of one of them. */
interface Shared {
  readonly answer: Promise<string>;
  readonly clients: Clients;
}

/** Each turn is one answer, so that all other work of the service runs in between. */
export class SharedAnswers {
  readonly #kept = new Map<string, Shared>();
  readonly #clock: Clock;
  #window: ProcessWindow | undefined;
  #cachedCharacters = 0;
  readonly #turns = new FairTurns('processes');

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the answer to a question as JSON; `build` makes it if no client has asked before. Rejects with
   * `not_possible_now` if too many wait, and as `build` does.
   */
  find({ window, text, client, isRetained }: Question, build: () => unknown): Promise<string> {
    if (window !== this.#window) this.#begin(window);
    const known = this.#kept.get(text);
    if (known !== undefined) {
      known.clients.join(client);
      return known.answer;
    }
    const clients = new Clients(client);
    const answer = this.#turns.take(clients, async () => JSON.stringify(await build()));
    this.#kept.set(text, { answer, clients });
    answer.then(
      (json) => this.#judge(window, text, isRetained ? json.length : Number.POSITIVE_INFINITY),
      () => this.#forget(window, text),
    );
    return answer;
  }

  #begin(window: ProcessWindow | undefined): void {
    this.#window = window;
    this.#kept.clear();
    this.#cachedCharacters = 0;
    if (window === undefined) return;
    this.#clock.setTimer(() => {
      if (window === this.#window) this.#begin(undefined);
    }, CACHED_MS);
  }

  #judge(window: ProcessWindow, question: string, characters: number): void {
    if (window !== this.#window) return;
    if (this.#cachedCharacters + characters <= MAX_CACHED_CHARACTERS) this.#cachedCharacters += characters;
    else this.#kept.delete(question);
  }

  #forget(window: ProcessWindow, question: string): void {
    if (window === this.#window) this.#kept.delete(question);
  }
}
