/** Work that is done one piece at a time, in fair turns: the many questions of one client do not delay another's first. */
import { ServiceError } from '../errors.ts';

/** Pieces of one client that wait; more are refused before any work is done for them. */
const MAX_WAITING = 64;
/** The same for all clients together. */
const MAX_WAITING_IN_ALL = 1024;

type Job = () => Promise<void>;

export class FairTurns {
  /** By client, in the order of their next turns. */
  readonly #queues = new Map<string, Job[]>();
  readonly #subject: string;
  #waiting = 0;
  #isRunning = false;

  /** `subject`: of the questions, for the sentence of a refusal. */
  constructor(subject: string) {
    this.#subject = subject;
  }

  /**
   * The result of `work`, which begins in a turn of the event loop of its own. Rejects as `work` does, and with
   * `not_possible_now` where too much waits.
   */
  take<T>(client: string, work: () => T | Promise<T>): Promise<T> {
    const queue = this.#queues.get(client) ?? [];
    if (queue.length >= MAX_WAITING || this.#waiting >= MAX_WAITING_IN_ALL) {
      const sentence = `Too many different questions about ${this.#subject} at the same time.`;
      return Promise.reject(new ServiceError('not_possible_now', sentence));
    }
    return new Promise<T>((resolve, reject) => {
      queue.push(async () => {
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
      });
      this.#queues.set(client, queue);
      this.#waiting++;
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      const [first] = this.#queues;
      if (first === undefined) break;
      await new Promise((resolve) => setImmediate(resolve));
      await this.#serve(...first);
    }
    this.#isRunning = false;
  }

  /** One piece of `client`, whose next one comes after all others'. */
  async #serve(client: string, queue: Job[]): Promise<void> {
    await queue[0]?.();
    queue.shift();
    this.#waiting--;
    this.#queues.delete(client);
    if (queue.length > 0) this.#queues.set(client, queue);
  }
}
