/** The requests of a socket: the message that is sent, its time limit, and the answer that settles it. */
import { callOut } from './environment.ts';
import type { AnswerEvents, Feedback, Message } from './messages.ts';
import { type Address, answered, check, type Sender, type Settlement } from './pending.ts';
import type { AskOptions, CommandOptions } from './socket-options.ts';

const TIMEOUT_MS = 10_000;

export class Asker {
  readonly #requests: Sender;
  readonly #timeoutMs: number;
  readonly #address: Address | undefined;

  /** `address`: the machine of a hub that is asked. */
  constructor(requests: Sender, timeoutMs = TIMEOUT_MS, address?: Address) {
    this.#requests = requests;
    this.#timeoutMs = timeoutMs;
    this.#address = address;
  }

  /** A question: waits for the connection, and is answered by one message of type `answer`. */
  question<E extends keyof AnswerEvents>(
    op: string,
    data: object,
    answer: E,
    options: AskOptions = {},
  ): Promise<AnswerEvents[E]> {
    return this.ask(op, data, options, answered(answer));
  }

  ask<T>(
    op: string,
    data: object,
    options: AskOptions,
    take: (message: Message) => Settlement<T>,
  ): Promise<T> {
    const { signal, timeoutMs = this.#timeoutMs } = options;
    return this.#requests.start({
      op,
      address: this.#address,
      data,
      signal,
      take,
      kind: 'question',
      limitMs: timeoutMs,
    });
  }

  /**
   * A command: resolves with its final feedback, or rejects with its code when it failed. `takesMs`: the time that the
   * command itself may take, in addition to the limit for the answer.
   */
  command<F extends Feedback>(op: string, data: object, options: CommandOptions, takesMs = 0): Promise<F> {
    const { signal, timeoutMs = this.#timeoutMs, onStage } = options;
    const take = (message: Message): Settlement<F> => {
      check(message);
      if (!message.type.endsWith('_feedback')) return undefined;
      // The service's messages have the types in AnswerEvents.
      const feedback = message.data as F;
      if (feedback.final) return { done: feedback };
      if (onStage !== undefined) callOut(onStage, feedback);
      return undefined;
    };
    return this.#requests.start({
      op,
      address: this.#address,
      data,
      signal,
      take,
      kind: 'command',
      limitMs: timeoutMs + takesMs,
    });
  }
}
