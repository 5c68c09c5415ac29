/** Requests over a connection that comes and goes: each is sent once, and settled once. */
import type { Environment } from './environment.ts';
import { ClientError } from './errors.ts';
import type { ErrorMessage, Message } from './messages.ts';

/** `done`: the last answer to it. */
export type Taken<T> = { readonly done: T } | undefined;

export interface Asking<T> {
  readonly op: string;
  readonly data: object;
  /** Acts on the machine: is not kept for a later connection. */
  readonly isCommand: boolean;
  /** Of the whole, in milliseconds; undefined: as long as it takes. */
  readonly limitMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** Looks at each answer to it; throws where that says that it has failed. */
  readonly take: (message: Message) => Taken<T>;
}

interface Pending {
  readonly id: number;
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
  readonly #pending = new Map<number, Pending>();
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
  start<T>({ op, data, isCommand, limitMs, signal, take }: Asking<T>): Promise<T> {
    const id = ++this.#lastId;
    const text = JSON.stringify({ op, id, data });
    const refusal = this.#refusalOf(text, isCommand);
    if (refusal !== undefined) return Promise.reject(refusal);
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    return new Promise<T>((resolve, reject) => {
      const { setTimer, clearTimer } = this.#environment;
      const settle = () => {
        this.#pending.delete(id);
        clearTimer(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const fail = (reason: unknown) => {
        settle();
        reject(reason);
      };
      const onAbort = () => fail(signal?.reason);
      const onLimit = () => fail(new ClientError('timeout', `no answer within ${limitMs} ms`));
      const timer = limitMs === undefined ? undefined : setTimer(onLimit, limitMs);
      signal?.addEventListener('abort', onAbort);
      const hear = (message: Message) => {
        try {
          const taken = message.type === 'error' ? refuse(message) : take(message);
          if (taken === undefined) return;
          settle();
          resolve(taken.done);
        } catch (error) {
          fail(error);
        }
      };
      const pending = { id, text, isSent: false, hear, fail };
      this.#pending.set(id, pending);
      if (this.#isOpen) this.#sendOne(pending);
    });
  }

  /** False where nobody waits for this message. */
  hear(message: Message): boolean {
    const pending = typeof message.id === 'number' ? this.#pending.get(message.id) : undefined;
    pending?.hear(message);
    return pending !== undefined;
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

function refuse(message: Message): never {
  const { code, message: sentence, details } = message.data as ErrorMessage; // As the service says errors.
  throw new ClientError(code, sentence, { details });
}

/** Takes the answer of type `type`. */
export function answered<T>(type: string): (message: Message) => Taken<T> {
  // The service's messages are as AnswerEvents says.
  return (message) => (message.type === type ? { done: message.data as T } : undefined);
}
