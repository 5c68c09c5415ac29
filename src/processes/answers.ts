/** Answers about processes, each built and encoded once for all who ask the same of the same window. */
import type { ProcessWindow } from './shares.ts';
import { FairTurns } from './turns.ts';

export interface Answered<T> {
  readonly value: T;
  readonly json: string;
}

/** Answers kept of the current window; an ungrouped list of 4,000 processes has about a megabyte. */
const MAX_KEPT_CHARACTERS = 8 * 1024 * 1024;

/** Who asks what about which window. */
export interface Question {
  readonly window: ProcessWindow;
  /** Questions that are equal must have equal answers. */
  readonly text: string;
  /** Whose turn it costs. */
  readonly client: string;
  /** False: the answer is shared only while it is being made. */
  readonly isKept: boolean;
}

/** Each turn is one answer, so that everything else the service does has its turn in between. */
export class SharedAnswers {
  readonly #kept = new Map<string, Promise<Answered<unknown>>>();
  #window: ProcessWindow | undefined;
  #keptCharacters = 0;
  readonly #turns = new FairTurns();

  /**
   * The answer to a question, which `build` makes where nobody has asked before. Rejects with `not_possible_now` where
   * too many wait, and as `build` does.
   */
  find<T>({ window, text, client, isKept }: Question, build: () => T | Promise<T>): Promise<Answered<T>> {
    if (window !== this.#window) {
      this.#window = window;
      this.#kept.clear();
      this.#keptCharacters = 0;
    }
    // Of the same question, so of the same type.
    const known = this.#kept.get(text) as Promise<Answered<T>> | undefined;
    if (known !== undefined) return known;
    const answer = this.#turns.take(client, async () => {
      const value = await build();
      return { value, json: JSON.stringify(value) };
    });
    this.#kept.set(text, answer);
    answer.then(
      ({ json }) => this.#judge(window, text, isKept ? json.length : Number.POSITIVE_INFINITY),
      () => this.#forget(window, text),
    );
    return answer;
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
