/** A conversation over /api/ws on any kind of socket: sends messages, and queues received ones until they are taken. */
import { PATIENCE_MS } from '../limits.ts';

export interface Told {
  readonly type: string;
  readonly id?: string | number;
  // The tests compare its values with the expected ones.
  readonly data: Readonly<Record<string, unknown>>;
  /** The message as it was received. */
  readonly text: string;
  readonly atMs: number;
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
  readonly atMs: number;
}

export abstract class Talk {
  /** All received messages, in order. */
  readonly told: Told[] = [];
  readonly closed: Promise<Closed>;
  readonly #untaken: Told[] = [];
  #wake: () => void = () => undefined;
  #resolveClosed: (closed: Closed) => void = () => undefined;
  isClosed = false;

  constructor() {
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** Sends a text frame. */
  abstract sayText(text: string): void;

  /** Called for each received text frame. */
  protected hear(text: string): void {
    // The documented shape; tests compare messages with exact shapes.
    const told = { ...(JSON.parse(text) as Omit<Told, 'text' | 'atMs'>), text, atMs: performance.now() };
    this.told.push(told);
    this.#untaken.push(told);
    this.#wake();
  }

  /** Called when the socket is closed. */
  protected end(code: number, reason: string): void {
    this.isClosed = true;
    this.#wake();
    this.#resolveClosed({ code, reason, atMs: performance.now() });
  }

  say(op: string, data?: object, id?: string | number): void {
    this.sayText(JSON.stringify({ op, id, data }));
  }

  /** Takes the first message in the queue that is `wanted` (a type, or a condition). Throws after `limitMs`. */
  async take(wanted: string | ((told: Told) => boolean), limitMs = PATIENCE_MS): Promise<Told> {
    const isWanted = typeof wanted === 'string' ? (told: Told) => told.type === wanted : wanted;
    const deadline = performance.now() + limitMs;
    for (;;) {
      const at = this.#untaken.findIndex(isWanted);
      const [found] = at < 0 ? [] : this.#untaken.splice(at, 1);
      if (found !== undefined) return found;
      const left = deadline - performance.now();
      if (left <= 0 || this.isClosed) {
        const last = this.told.slice(-5).map(({ text }) => text.slice(0, 200));
        throw new Error(
          `${this.isClosed ? 'closed' : 'silent'}, did not receive ${String(wanted)}: ${last.join('\n')}`,
        );
      }
      await this.#nextWake(left);
    }
  }

  async #nextWake(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, limitMs);
    });
    clearTimeout(timer);
  }

  /** Sends `op` with `id` and takes the first answer to it. */
  async ask(op: string, data: object | undefined, id: string | number): Promise<Told> {
    this.say(op, data, id);
    return await this.take((told) => told.id === id);
  }

  /** Like `ask`, but takes all answers up to a final feedback or an error. */
  async askToEnd(op: string, data: object, id: string | number): Promise<readonly Told[]> {
    this.say(op, data, id);
    const answers: Told[] = [];
    for (;;) {
      const told = await this.take((each) => each.id === id, 10_000);
      answers.push(told);
      if (told.data['final'] !== false) return answers;
    }
  }

  /** Pings, so that all messages sent before have been received; then takes every message in the queue. */
  async settle(): Promise<readonly Told[]> {
    await this.ask('ping', undefined, `settle ${performance.now()}`);
    return this.#untaken.splice(0);
  }
}
