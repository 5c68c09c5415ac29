/** Requests over a connection that may be lost: each is sent at most once and settled once. */
import { type Environment, onAborted } from './environment.ts';
import { ClientError } from './errors.ts';
import type { ErrorMessage, Feedback, Message } from './messages.ts';

/** `done`: the result, taken from the last answer; undefined: more answers follow. */
export type Settlement<T> = { readonly done: T } | undefined;

export interface Address {
  readonly host?: string;
  readonly hosts?: readonly string[];
}

/** The part that sends requests. */
export type Sender = Pick<Requests, 'start' | 'isOpen' | 'end'>;

export interface PendingRequest<T> {
  readonly op: string;
  /** The machines that it is about, for a hub. */
  readonly address?: Address | undefined;
  readonly data: object;
  /** A command acts on the machine, so it is not kept for a later connection. */
  readonly kind: 'command' | 'question' | 'subscription';
  /** Time limit for the whole request; undefined: none. */
  readonly limitMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** Called with each answer; throws when the answer is a failure (`check`). */
  readonly take: (message: Message) => Settlement<T>;
}

interface Pending {
  readonly kind: PendingRequest<unknown>['kind'];
  readonly text: string;
  isSent: boolean;
  readonly receive: (message: Message) => void;
  readonly fail: (reason: unknown) => void;
}

/** The service's limit for one message. */
const MAX_MESSAGE_BYTES = 16 * 1024;

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

  /** Why there will be no further connection; undefined while there may be one. */
  get end(): ClientError | undefined {
    return this.#end;
  }

  /** Sends immediately, or when the connection opens; a command waits for the first connection only. */
  start<T>({ op, address, data, kind, limitMs, signal, take }: PendingRequest<T>): Promise<T> {
    const number = ++this.#lastId;
    // The snapshots that follow a subscription have its id, and are for listeners.
    const id = kind === 'subscription' ? `s${number}` : number;
    const text = JSON.stringify({ op, ...address, id, data });
    const refusal = this.#refusalOf(text, kind === 'command');
    if (refusal !== undefined) return Promise.reject(refusal);
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    return new Promise<T>((resolve, reject) => {
      const { setTimer, clearTimer } = this.#environment;
      const settle = () => {
        this.#pending.delete(id);
        clearTimer(timer);
        stopListening();
      };
      const fail = (reason: unknown) => {
        settle();
        reject(reason);
      };
      const onLimit = () => fail(new ClientError('timeout', `no answer within ${limitMs} ms`));
      const timer = limitMs === undefined ? undefined : setTimer(onLimit, limitMs);
      const stopListening = onAborted(signal, () => fail(signal?.reason));
      const receive = (message: Message) => {
        try {
          const taken = take(message);
          if (taken === undefined) return;
          settle();
          resolve(taken.done);
        } catch (error) {
          fail(error);
        }
      };
      const pending = { kind, text, isSent: false, receive, fail };
      this.#pending.set(id, pending);
      if (this.#isOpen) this.#sendOne(pending);
    });
  }

  /** Passes an answer to its request. Returns false when the message is for listeners. */
  receive(message: Message): boolean {
    const { id, type } = message;
    const pending = this.#pending.get(id);
    // A snapshot of one machine, while the answer about another one is awaited.
    if (pending?.kind === 'subscription' && type !== 'subscribed' && type !== 'error') return false;
    pending?.receive(message);
    // A late answer is dropped, unless it is the feedback of a command.
    return pending !== undefined || (typeof id === 'number' && !type.endsWith('_feedback'));
  }

  /** The connection is open: sends the requests that waited for it. */
  open(): void {
    this.#isOpen = true;
    this.#wasOpen = true;
    for (const pending of this.#pending.values()) if (!pending.isSent) this.#sendOne(pending);
  }

  /** The connection is lost: rejects the requests that were sent over it; they are not sent again. */
  lose(error: ClientError): void {
    this.#isOpen = false;
    const lost = new ClientError('connection_lost', 'the connection was lost before the answer arrived', {
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
      return new ClientError('not_connected', 'not connected; the command was not sent');
    if (new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES)
      return new ClientError('too_large', `the message is longer than ${MAX_MESSAGE_BYTES} bytes`);
    return undefined;
  }

  #sendOne(pending: Pending): void {
    pending.isSent = true;
    this.#send(pending.text);
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** The error in the data of a message: that of the service has a code and a message. */
function errorIn(data: unknown, details: unknown = Object(data).details): ClientError {
  const { code, message } = Object(data) as Readonly<Record<string, unknown>>; // Each is checked.
  return new ClientError(isText(code) ? code : 'INTERNAL', isText(message) ? message : 'no reason', {
    details,
  });
}

/** The same for listeners, which print it. */
export function errorMessage(data: unknown): ErrorMessage {
  const { code, message, details } = errorIn(data);
  return { code, message, details };
}

/** Throws when an answer is an error, or the feedback of a failed command. */
export function check({ type, data }: Message): void {
  if (type === 'error') throw errorIn(data);
  if (!type.endsWith('_feedback')) return;
  const { success, final } = data as Feedback; // The shape of its feedback.
  if (final && !success) throw errorIn(data, data);
}

/** Settles with the data of the answer of type `type`. */
export function answered<T>(type: string): (message: Message) => Settlement<T> {
  return (message) => {
    check(message);
    // The service's messages have the types in AnswerEvents.
    return message.type === type ? { done: message.data as T } : undefined;
  };
}
