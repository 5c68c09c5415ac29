/** Answers of one machine by request: concurrent clients share one question, and its answer for a few seconds. */
import type { Clock } from '../clock.ts';
import { Clients } from '../fairness/fair-queue.ts';
import type { RemoteAnswer, RemoteRequest } from '../socket/requests.ts';
import { isQuestion, REQUESTS } from './requests.ts';

/** Asks the machine. */
type Send = (request: RemoteRequest) => Promise<RemoteAnswer>;

interface Entry {
  readonly answer: Promise<RemoteAnswer>;
  /** The addresses of the clients: the question has its turn when it is that of one of them. */
  readonly clients: Clients;
  untilMs: number;
}

export class SharedAnswers {
  readonly #clock: Pick<Clock, 'now'>;
  /** undefined if there was no question lately. */
  #cached: Map<string, Entry> | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Rejects as `send`. */
  async ask(request: RemoteRequest, send: Send): Promise<RemoteAnswer> {
    if (isQuestion(request.what)) return await this.#get(request, send);
    try {
      return await send(request);
    } finally {
      // Later answers must show its effect.
      this.clear();
    }
  }

  async #get(request: RemoteRequest, send: Send): Promise<RemoteAnswer> {
    const { what, params, client } = request;
    const key = JSON.stringify([what, params]);
    // 0: it is not kept.
    const ageMs = REQUESTS.get(what)?.maxAgeMs ?? 0;
    this.#cached ??= new Map();
    const cached = this.#cached;
    const known = cached.get(key);
    if (known !== undefined && this.#clock.now() < known.untilMs) {
      if (known.untilMs === Number.POSITIVE_INFINITY) known.clients.join(client.address);
      return await known.answer;
    }
    const clients = new Clients(client.address);
    // Its age counts from the question on: as with the service, a request each second gets a new sample each time.
    const untilMs = this.#clock.now() + ageMs;
    const entry: Entry = {
      answer: send({ ...request, clients }),
      clients,
      untilMs: Number.POSITIVE_INFINITY,
    };
    cached.set(key, entry);
    const drop = () => {
      if (cached.get(key) === entry) cached.delete(key);
    };
    try {
      const answer = await entry.answer;
      if (ageMs === 0) drop();
      return answer;
    } catch (error) {
      drop();
      throw error;
    } finally {
      entry.untilMs = untilMs;
    }
  }

  /** Drops shared answers: requests from now on get new ones. */
  clear(): void {
    this.#cached = undefined;
  }

  /** Called every second: a machine that is asked nothing takes no memory for old answers. */
  rest(nowMs: number): void {
    if (this.#cached === undefined) return;
    for (const [key, { untilMs }] of this.#cached) if (untilMs <= nowMs) this.#cached.delete(key);
    if (this.#cached.size === 0) this.#cached = undefined;
  }
}
