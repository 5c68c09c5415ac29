/** How the requests of a socket are put: what is sent, how long it may take, which answer ends it. */
import { callOut } from './environment.ts';
import { ClientError } from './errors.ts';
import type { AnswerEvents, Feedback, Message } from './messages.ts';
import type { Requests, Taken } from './requests.ts';
import type { AskOptions, CommandOptions } from './socket-options.ts';

const TIMEOUT_MS = 10_000;

export class Asker {
  readonly #requests: Requests;
  readonly #timeoutMs: number;

  constructor(requests: Requests, timeoutMs = TIMEOUT_MS) {
    this.#requests = requests;
    this.#timeoutMs = timeoutMs;
  }

  /** A question: it waits for the connection, and is answered by one message of this type. */
  question<E extends keyof AnswerEvents>(
    op: string,
    data: object,
    answer: E,
    options: AskOptions = {},
  ): Promise<AnswerEvents[E]> {
    // The service's messages are as AnswerEvents says.
    const take = ({ type, data: told }: Message) =>
      type === answer ? { done: told as AnswerEvents[E] } : undefined;
    return this.ask(op, data, options, take);
  }

  ask<T>(op: string, data: object, options: AskOptions, take: (message: Message) => Taken<T>): Promise<T> {
    const { signal, timeoutMs = this.#timeoutMs } = options;
    return this.#requests.start({ op, data, isCommand: false, limitMs: timeoutMs, signal, take });
  }

  /**
   * A command: resolves with its last feedback, rejects with its code where that says that it failed. `takesMs`: what
   * it may itself take.
   */
  command<F extends Feedback>(op: string, data: object, options: CommandOptions, takesMs = 0): Promise<F> {
    const { signal, timeoutMs = this.#timeoutMs, onStage } = options;
    const take = ({ type, data: told }: Message): Taken<F> => {
      if (!type.endsWith('_feedback')) return undefined;
      const feedback = told as F; // As above.
      if (!feedback.final) {
        if (onStage !== undefined) callOut(onStage, feedback);
        return undefined;
      }
      if (feedback.success) return { done: feedback };
      throw new ClientError(feedback.code ?? 'INTERNAL', feedback.message, { details: feedback });
    };
    return this.#requests.start({ op, data, isCommand: true, limitMs: timeoutMs + takesMs, signal, take });
  }
}
