/** Requests over a connection that comes and goes: each is sent once, and settled once. */
import { type Environment, heed } from './environment.ts';
import { ClientError } from './errors.ts';
import type { ErrorMessage, Feedback, Message } from './messages.ts';

/** `done`: the last answer to it. */
export type Taken<T> = { readonly done: T } | undefined;

export interface Asking<T> {
  readonly op: string;
  readonly data: object;
  /** A command acts on the machine: it is not kept for a later connection. */
  readonly kind: 'command' | 'question' | 'subscription';
  /** Of the whole, in milliseconds; undefined: as long as it takes. */
  readonly limitMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** Looks at each answer to it; throws where that says that it has failed (`check`). */
  readonly take: (message: Message) => Taken<T>;
}

interface Pending {
  readonly text: string;
  isSent: boolean;
  readonly hear: (message: Message) => void;
  readonly fail: (reason: unknown) => void;
}

/** What the service takes in one message. */
const MOST_BYTES = 16 * 1024;

export class Requests {
  readonly #environment: Environment;
  readonly #send: (text: string) => void;
  readonly #pending = new Map<unknown, Pending>();
  #lastId = 0;
  #isOpen = false;
  #wasOpen = false;
  #end: ClientError | undefined;

  constructor(environment: Environment, send: (text: string) => void) {
    this.#environment = environment;
    this.#send = send;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Why there will be no connection any more. */
  get end(): ClientError | undefined {
    return this.#end;
  }

  /** Sent at once, or when the connection is there; a command only if there has not been one before. */
  start<T>({ op, data, kind, limitMs, signal, take }: Asking<T>): Promise<T> {
    const number = ++this.#lastId;
    // The states that a subscription begins with carry its id, and are for listeners.
    const id = kind === 'subscription' ? `s${number}` : number;
    const text = JSON.stringify({ op, id, data });
    const refusal = this.#refusalOf(text, kind === 'command');
    if (refusal !== undefined) return Promise.reject(refusal);
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    return new Promise<T>((resolve, reject) => {
      const { setTimer, clearTimer } = this.#environment;
      const settle = () => {
        this.#pending.delete(id);
        clearTimer(timer);
        letGo();
      };
      const fail = (reason: unknown) => {
        settle();
        reject(reason);
      };
      const onLimit = () => fail(new ClientError('timeout', `no answer within ${limitMs} ms`));
      const timer = limitMs === undefined ? undefined : setTimer(onLimit, limitMs);
      const letGo = heed(signal, () => fail(signal?.reason));
      const hear = (message: Message) => {
        try {
          const taken = take(message);
          if (taken === undefined) return;
          settle();
          resolve(taken.done);
        } catch (error) {
          fail(error);
        }
      };
      const pending = { text, isSent: false, hear, fail };
      this.#pending.set(id, pending);
      if (this.#isOpen) this.#sendOne(pending);
    });
  }

  /** False where the message is for listeners. */
  hear(message: Message): boolean {
    const { id, type } = message;
    const pending = this.#pending.get(id);
    pending?.hear(message);
    // An answer that is no longer waited for tells nobody anything, unless it says how a command went.
    return pending !== undefined || (typeof id === 'number' && !type.endsWith('_feedback'));
  }

  /** The connection is there: what waited for it is sent. */
  open(): void {
    this.#isOpen = true;
    this.#wasOpen = true;
    for (const pending of this.#pending.values()) if (!pending.isSent) this.#sendOne(pending);
  }

  /** The connection is lost: what was sent over it will not be answered, and is not sent again. */
  lose(error: ClientError): void {
    this.#isOpen = false;
    const lost = new ClientError('connection_lost', 'the connection was lost before the answer came', {
      cause: error,
    });
    for (const pending of [...this.#pending.values()]) if (pending.isSent) pending.fail(lost);
  }

  close(error: ClientError): void {
    this.#end = error;
    this.#isOpen = false;
    for (const pending of [...this.#pending.values()]) pending.fail(error);
  }

  #refusalOf(text: string, isCommand: boolean): ClientError | undefined {
    if (this.#end !== undefined) return this.#end;
    if (isCommand && this.#wasOpen && !this.#isOpen)
      return new ClientError('not_connected', 'it was not sent: there is no connection');
    if (new TextEncoder().encode(text).length > MOST_BYTES)
      return new ClientError('too_large', `a message may have ${MOST_BYTES} bytes`);
    return undefined;
  }

  #sendOne(pending: Pending): void {
    pending.isSent = true;
    this.#send(pending.text);
  }
}

/** Throws what an answer says when it is an error, or feedback of something that has failed. */
export function check({ type, data }: Message): void {
  if (type === 'error') {
    const { code, message, details } = data as ErrorMessage; // As the service says errors.
    throw new ClientError(code, message, { details });
  }
  if (!type.endsWith('_feedback')) return;
  const { success, final, code = 'INTERNAL', message } = data as Feedback; // As it says feedback.
  if (final && !success) throw new ClientError(code, message, { details: data });
}

/** Takes the answer of type `type`. */
export function answered<T>(type: string): (message: Message) => Taken<T> {
  return (message) => {
    check(message);
    // The service's messages are as AnswerEvents says.
    return message.type === type ? { done: message.data as T } : undefined;
  };
}
