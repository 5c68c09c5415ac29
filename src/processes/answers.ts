/** Answers about processes, each built and encoded once for all who ask the same of the same window. */
import { ServiceError } from '../errors.ts';
import type { ProcessWindow } from './shares.ts';

export interface Answered<T> {
  readonly value: T;
  readonly json: string;
}

/** Answers kept of the current window; an ungrouped list of 4,000 processes has about a megabyte. */
const MAX_KEPT_CHARACTERS = 8 * 1024 * 1024;
/** Different questions that wait for their turn; more are refused before any work is done for them. */
const MAX_WAITING = 64;

/** Each turn is one answer, so that everything else the service does has its turn in between. */
export class SharedAnswers {
  readonly #kept = new Map<string, Promise<Answered<unknown>>>();
  #window: ProcessWindow | undefined;
  #keptCharacters = 0;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * The answer to `question` about `window`, which `build` makes where nobody has asked before. Questions that are
   * equal must have equal answers. `isKept` false: it is shared only while it is being made. Rejects with
   * `not_possible_now` where too many wait, and as `build` does.
   */
  find<T>(
    window: ProcessWindow,
    question: string,
    isKept: boolean,
    build: () => T | Promise<T>,
  ): Promise<Answered<T>> {
    if (window !== this.#window) {
      this.#window = window;
      this.#kept.clear();
      this.#keptCharacters = 0;
    }
    // Of the same question, so of the same type.
    const known = this.#kept.get(question) as Promise<Answered<T>> | undefined;
    if (known !== undefined) return known;
    if (this.#waiting >= MAX_WAITING) {
      const sentence = 'Too many different questions about processes at the same time.';
      return Promise.reject(new ServiceError('not_possible_now', sentence));
    }
    const answer = this.#inTurn(build);
    this.#kept.set(question, answer);
    answer.then(
      ({ json }) => this.#judge(window, question, isKept ? json.length : Number.POSITIVE_INFINITY),
      () => this.#forget(window, question),
    );
    return answer;
  }

  async #inTurn<T>(build: () => T | Promise<T>): Promise<Answered<T>> {
    this.#waiting++;
    const before = this.#last;
    const turn = (async () => {
      await before;
      await new Promise((resolve) => setImmediate(resolve));
      const value = await build();
      return { value, json: JSON.stringify(value) };
    })();
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#waiting--;
    }
  }

  #judge(window: ProcessWindow, question: string, characters: number): void {
    if (window !== this.#window) return;
    if (this.#keptCharacters + characters <= MAX_KEPT_CHARACTERS) this.#keptCharacters += characters;
    else this.#kept.delete(question);
  }

  #forget(window: ProcessWindow, question: string): void {
    if (window === this.#window) this.#kept.delete(question);
  }
}
