/** Runs work one piece at a time, in fair turns: the many questions of one client do not delay another's first. */
import { ServiceError } from '../errors.ts';
import { type Clients, FairQueue } from '../fairness/fair-queue.ts';
import { PLACES } from '../fairness/limits.ts';

interface Job {
  /** The client that asked first. */
  readonly client: string;
  readonly run: () => Promise<void>;
  readonly refuse: () => void;
}

export class FairTurns {
  readonly #queue = new FairQueue<Job>(PLACES.questionsInAll.max);
  readonly #subject: string;
  #running: Job | undefined;
  #isRunning = false;

  /** `subject`: of the questions, for the sentence of a refusal. */
  constructor(subject: string) {
    this.#subject = subject;
  }

  /**
   * Returns the result of `work`, which begins in its own turn of the event loop. `clients`: those that wait for it,
   * the first of which asked first; others may join. Rejects as `work` does, and with `not_possible_now` if too many
   * pieces wait.
   */
  take<T>(clients: Clients, work: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const client = clients.first;
      const refuse = () => {
        const sentence = `Too many different simultaneous requests for ${this.#subject}.`;
        reject(new ServiceError('not_possible_now', sentence));
      };
      if (this.#countOf(client) >= PLACES.questions.max) {
        refuse();
        return;
      }
      const run = async () => {
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
      };
      this.#queue.add({ client, run, refuse }, clients)?.refuse();
      if (!this.#isRunning) void this.#run();
    });
  }

  #countOf(client: string): number {
    return this.#queue.countOf(client) + (this.#running?.client === client ? 1 : 0);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#queue.size > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#running = this.#queue.take();
      await this.#running?.run();
      this.#running = undefined;
    }
    this.#isRunning = false;
  }
}
