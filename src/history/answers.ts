/** Answers about the history as JSON, each made once for all clients that ask the same within a second. */
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { Clients } from '../fairness/fair-queue.ts';
import { FairTurns } from '../processes/turns.ts';

const CACHED_MS = 1000;
/** Maximum size of kept answers; an answer of 100,000 numbers has about 0.7 MB. */
const MAX_CACHED_CHARACTERS = 8 * 1024 * 1024;

export class HistoryAnswer {
  readonly #parts: readonly string[];
  #json: string | undefined;
  #bytes: Buffer | undefined;
  #etag: string | undefined;

  constructor(parts: readonly string[]) {
    this.#parts = parts;
  }

  get characters(): number {
    return this.#parts.reduce((sum, part) => sum + part.length, 0);
  }

  get json(): string {
    this.#json ??= this.#parts.join('');
    return this.#json;
  }

  get bytes(): Buffer {
    // Part by part: 0.6 MB take 0.3 ms instead of 2.2 ms.
    this.#bytes ??= Buffer.concat(this.#parts.map((part) => Buffer.from(part)));
    return this.#bytes;
  }

  /** A strong ETag. */
  get etag(): string {
    this.#etag ??= `"${createHash('sha256').update(this.bytes).digest('hex').slice(0, 16)}"`;
    return this.#etag;
  }
}

/** An answer, and the clients that have asked for it: it is made in the turn of one of them. */
interface Shared {
  readonly answer: Promise<HistoryAnswer>;
  readonly clients: Clients;
}

export class HistoryAnswers {
  readonly #clock: Clock;
  readonly #cached = new Map<string, Shared>();
  readonly #turns = new FairTurns('the history');
  #cachedCharacters = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the answer to `question`; `build` makes its JSON, in parts, if no client has asked within a second.
   * `client`: whose turn it uses. Rejects with `not_possible_now` if too many wait, and as `build` does.
   */
  find(question: string, client: string, build: () => Promise<readonly string[]>): Promise<HistoryAnswer> {
    const known = this.#cached.get(question);
    if (known !== undefined) {
      known.clients.join(client);
      return known.answer;
    }
    const clients = new Clients(client);
    const answer = this.#turns.take(clients, async () => new HistoryAnswer(await build()));
    this.#cached.set(question, { answer, clients });
    answer.then(
      ({ characters }) => this.#keep(question, characters),
      () => this.#cached.delete(question),
    );
    return answer;
  }

  #keep(question: string, characters: number): void {
    if (this.#cachedCharacters + characters > MAX_CACHED_CHARACTERS) {
      this.#cached.delete(question);
      return;
    }
    this.#cachedCharacters += characters;
    this.#clock.setTimer(() => {
      this.#cached.delete(question);
      this.#cachedCharacters -= characters;
    }, CACHED_MS);
  }
}
