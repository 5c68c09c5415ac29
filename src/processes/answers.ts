/** Answers that are built once for all clients that ask the same within a second, one at a time in fair turns. */
import type { Clock } from '../clock.ts';
import { Clients } from '../fairness/fair-queue.ts';
import { QUOTAS } from '../fairness/limits.ts';
import { FairTurns } from './turns.ts';

const KEPT_MS = 1000;

/** An answer, and the clients that have asked for it: it is made in the turn of one of them. */
interface Shared<Answer> {
  readonly answer: Promise<Answer>;
  readonly clients: Clients;
}

/** `length`: of an answer, in characters. */
export class SharedAnswers<Answer extends { readonly length: number }> {
  readonly #kept = new Map<string, Shared<Answer>>();
  readonly #clock: Clock;
  readonly #turns: FairTurns;
  #keptCharacters = 0;

  /** `subject`: of the questions, for the sentence of a refusal. */
  constructor(clock: Clock, subject: string) {
    this.#clock = clock;
    this.#turns = new FairTurns(subject);
  }

  /**
   * Returns the answer to `question`; `build` makes it in a turn of the event loop of its own, if no client has asked
   * within a second. `client`: whose turn it uses. `isKept` false: the answer is shared only while it is being made.
   * Rejects with `not_possible_now` if too many wait, and as `build` does.
   */
  find(
    question: string,
    client: string,
    build: () => Answer | Promise<Answer>,
    isKept = true,
  ): Promise<Answer> {
    const known = this.#kept.get(question);
    if (known !== undefined) {
      known.clients.join(client);
      return known.answer;
    }
    const clients = new Clients(client);
    const answer = this.#turns.take(clients, build);
    this.#kept.set(question, { answer, clients });
    answer.then(
      ({ length }) => this.#keep(question, isKept ? length : Number.POSITIVE_INFINITY),
      () => this.#kept.delete(question),
    );
    return answer;
  }

  #keep(question: string, characters: number): void {
    if (this.#keptCharacters + characters > QUOTAS.processAnswers.maxBytes) {
      this.#kept.delete(question);
      return;
    }
    this.#keptCharacters += characters;
    this.#clock.setTimer(() => {
      this.#kept.delete(question);
      this.#keptCharacters -= characters;
    }, KEPT_MS);
  }
}
