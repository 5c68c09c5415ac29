/** Requests over a connection that may be lost: each is sent at most once and settled once. */
import { membersOf } from '../json.ts';
import { type Environment, onAborted } from './environment.ts';
import { ClientError } from './errors.ts';
import type { Feedback, Message } from './messages.ts';
import type { AskOptions } from './socket-options.ts';

export type Take<T> = (message: Message) => T | undefined;

export interface PendingRequest<T> {
  readonly op: string;
  /** The machines that it is about, for a hub. */
  readonly address?: { readonly host?: string; readonly hosts?: readonly string[] } | undefined;
  readonly data: object;
  /** A command acts on the machine, so it is not kept for a later connection. A subscription has no time limit. */
  readonly kind?: 'command' | 'question' | 'subscription';
  readonly options?: AskOptions | undefined;
  /** Time that the request itself may take, in addition to the limit for the answer. */
  readonly takesMs?: number | undefined;
  /** Returns the result of the last answer, undefined for one before; throws when it is a failure (`check`). */
  readonly take: Take<T>;
}

interface Pending {
  readonly isSubscription: boolean;
  readonly text: string;
  isSent: boolean;
  readonly receive: (message: Message) => void;
  readonly fail: (reason: unknown) => void;
}

/** The service's limit for one message. */
const MAX_MESSAGE_BYTES = 16 * 1024;

export class Requests {
  readonly #environment: Environment;
  readonly #timeoutMs: number;
  readonly #pending = new Map<unknown, Pending>();
  #lastId = 0;
  /** Set while the connection is open. */
  #send: ((text: string) => void) | undefined;
  #wasOpen = false;
  #end: ClientError | undefined;

  constructor(environment: Environment, timeoutMs = 10_000) {
    this.#environment = environment;
    this.#timeoutMs = timeoutMs;
  }

  get isOpen(): boolean {
    return this.#send !== undefined;
  }

  /** Why there will be no further connection; undefined while there may be one. */
  get end(): ClientError | undefined {
    return this.#end;
  }

  /** Sends immediately, or when the connection opens; a command waits for the first connection only. */
  start<T>(request: PendingRequest<T>): Promise<T> {
    const { op, address, data, kind = 'question', takesMs = 0, take } = request;
    const { signal, timeoutMs = this.#timeoutMs } = request.options ?? {};
    const isSubscription = kind === 'subscription';
    const number = ++this.#lastId;
    // The snapshots that follow a subscription have its id, and are for listeners.
    const id = isSubscription ? `s${number}` : number;
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
      const limitMs = timeoutMs + takesMs;
      const onLimit = () => fail(new ClientError('timeout', `no answer within ${limitMs} ms`));
      const timer = isSubscription ? undefined : setTimer(onLimit, limitMs);
      const stopListening = onAborted(signal, () => fail(signal?.reason));
      const receive = (message: Message) => {
        try {
          const result = take(message);
          if (result === undefined) return;
          settle();
          resolve(result);
        } catch (error) {
          fail(error);
        }
      };
      const isSent = this.isOpen;
      this.#pending.set(id, { isSubscription, text, isSent, receive, fail });
      this.#send?.(text);
    });
  }

  /** Passes an answer to its request. Returns false when the message is for listeners. */
  receive(message: Message): boolean {
    const { id, type } = message;
    const pending = this.#pending.get(id);
    // A snapshot of one machine, while the answer about another one is awaited.
    if (pending?.isSubscription === true && type !== 'subscribed' && type !== 'error') return false;
    pending?.receive(message);
    // A late answer is dropped, unless it is the feedback of a command.
    return pending !== undefined || (typeof id === 'number' && !type.endsWith('_feedback'));
  }

  /** The connection is open: sends the requests that waited for it. */
  open(send: (text: string) => void): void {
    this.#send = send;
    this.#wasOpen = true;
    for (const pending of this.#pending.values()) {
      pending.isSent = true;
      send(pending.text);
    }
  }

  /** The connection is lost: rejects the requests that were sent over it; they are not sent again. */
  lose(cause: ClientError): void {
    this.#send = undefined;
    const sentence = 'the connection was lost before the answer arrived';
    const lost = new ClientError('connection_lost', sentence, { cause });
    for (const pending of [...this.#pending.values()]) if (pending.isSent) pending.fail(lost);
  }

  close(error: ClientError): void {
    this.#end = error;
    this.#send = undefined;
    for (const pending of [...this.#pending.values()]) pending.fail(error);
  }

  #refusalOf(text: string, isCommand: boolean): ClientError | undefined {
    if (this.#end !== undefined) return this.#end;
    if (isCommand && this.#wasOpen && !this.isOpen)
      return new ClientError('not_connected', 'not connected; the command was not sent');
    if (new TextEncoder().encode(text).length > MAX_MESSAGE_BYTES)
      return new ClientError('too_large', `the message is longer than ${MAX_MESSAGE_BYTES} bytes`);
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** The error in the data of a message: that of the service has a code and a message. */
export function errorIn(data: unknown, details = membersOf(data)['details']): ClientError {
  const { code, message } = membersOf(data);
  const sentence = isText(message) ? message : 'no reason';
  return new ClientError(isText(code) ? code : 'INTERNAL', sentence, { details });
}

/** Throws when an answer is an error, or the feedback of a failed command. */
export function check({ type, data }: Message): void {
  if (type === 'error') throw errorIn(data);
  if (!type.endsWith('_feedback')) return;
  const { success, final } = data as Feedback; // The shape of its feedback.
  if (final && !success) throw errorIn(data, data);
}

/** Settles with the data of the answer of type `type`. */
export function answered<T>(type: string): Take<T> {
  return (message) => {
    check(message);
    // The service's messages have the types in AnswerEvents.
    return message.type === type ? (message.data as T) : undefined;
  };
}
