/** Observations of a hub's viewers during a fault: samples, states, and the time until samples resumed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { EventStream, payloadOf } from '../../../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../../../helpers/clients/http.ts';
import { checkTime } from '../../../helpers/limits.ts';
import { until } from '../../../helpers/until.ts';
import { HubClient, type HubTold } from '../../socket-setup.ts';

/** The limit. */
const GO_ON_MS = 5000;

interface Row {
  readonly id: string;
  readonly state: string;
  readonly reason?: string;
}

export const rowsOf = async (port: number): Promise<readonly Row[]> =>
  (jsonOf(await ask(port, '/api/hosts')) as { readonly hosts: readonly Row[] }).hosts; // test/hub/routes.test.ts checks it.

/** Waits for the state of a machine in /api/hosts. */
export async function stateOf(port: number, id: string, isWanted: (row: Row) => boolean): Promise<Row> {
  return await until(async () => (await rowsOf(port)).find((row) => row.id === id && isWanted(row)));
}

/** One stream of a machine, and one WebSocket that follows its state. */
export class Viewer {
  readonly id: string;
  readonly port: number;
  readonly stream: EventStream;
  readonly socket: HubClient;
  readonly #timer: NodeJS.Timeout;

  private constructor(id: string, port: number, stream: EventStream, socket: HubClient) {
    this.id = id;
    this.port = port;
    this.stream = stream;
    this.socket = socket;
    // The times of events are those at which they are parsed.
    this.#timer = setInterval(() => stream.count(), 20);
  }

  static async open(t: Test, port: number, id: string): Promise<Viewer> {
    const stream = await until(async () => {
      const opened = await EventStream.open(port, `/api/hosts/${id}/stream?fields=cpu`).catch(
        () => undefined,
      );
      if (opened?.head.status === 200) return opened;
      opened?.close();
      await sleep(100);
      return undefined;
    });
    const socket = await HubClient.open(t, { port });
    await socket.ask('subscribe', { host: id, data: { topics: ['stats.cpu'] } });
    const viewer = new Viewer(id, port, stream, socket);
    t.teardown(() => viewer.close());
    return viewer;
  }

  close(): void {
    clearInterval(this.#timer);
    this.stream.close();
    this.socket.socket.cut();
  }

  /** When samples came, in milliseconds of performance.now(). */
  get times(): readonly number[] {
    this.stream.count();
    return this.stream.events.map(({ atMs }) => atMs);
  }

  /** The states that the socket was sent since `from` of them. */
  states(from = 0): readonly string[] {
    return this.#hostEvents.slice(from).map(({ data }) => String((data as { state?: unknown }).state));
  }

  get #hostEvents(): readonly HubTold[] {
    return this.socket.told.filter(({ type, host }) => type === 'host' && host === this.id);
  }

  /** Seconds of the agent's clock in the newest sample. */
  get newest(): number {
    this.stream.count();
    const last = this.stream.events.at(-1);
    return last === undefined ? 0 : Number(payloadOf(last)['timestamp']);
  }

  /** Resolves with the moment of the first sample that came after `fromMs` and was taken after `atLeast`. */
  async sampleAfter(fromMs: number, atLeast = 0): Promise<number> {
    return await until(() => {
      this.stream.count();
      const found = this.stream.events.find(
        (event) => event.atMs > fromMs && Number(payloadOf(event)['timestamp']) >= atLeast,
      );
      return found?.atMs;
    });
  }
}

/** The longest pause between two samples of a stream after `fromMs`. */
export function longestPause({ times }: Viewer, fromMs: number): number {
  const after = times.filter((at) => at >= fromMs - 1500);
  return Math.max(0, ...after.slice(1).map((at, index) => at - (after[index] ?? at)));
}

/** Effects of a kind of fault on viewers, over all of its repetitions. */
export class Recovery {
  readonly #what: string;
  /** From the end of the fault to the next sample, per viewer and fault. */
  readonly #tookMs: number[] = [];
  /** Samples of one per second that did not come. */
  readonly #missed: number[] = [];
  #count = 0;

  constructor(what: string) {
    this.#what = what;
  }

  /**
   * Waits until all viewers have samples again that were taken since the end of the fault at `endMs`; `skewSeconds`: of
   * the agent's wall clock. `before`: those in whose place they are.
   */
  async take(
    t: Test,
    viewers: readonly Viewer[],
    endMs: number,
    {
      skewSeconds = 0,
      before = viewers,
    }: { readonly skewSeconds?: number; readonly before?: readonly Viewer[] } = {},
  ): Promise<void> {
    this.#count++;
    const endSeconds = Math.floor((performance.timeOrigin + endMs) / 1000) + skewSeconds;
    const last = before.map(({ times }) => Math.max(0, ...times.filter((at) => at <= endMs)));
    const first = await Promise.all(viewers.map((viewer) => viewer.sampleAfter(endMs, endSeconds)));
    first.forEach((at, index) => {
      this.#tookMs.push(at - endMs);
      this.#missed.push(Math.max(0, Math.round((at - (last[index] ?? at)) / 1000) - 1));
      checkTime(t, at - endMs, GO_ON_MS, `${this.#what} ${this.#count}: viewer ${index} has samples again`);
    });
  }

  report(t: Test): void {
    if (this.#count === 0) return;
    const sorted = [...this.#tookMs].sort((a, b) => a - b);
    const seconds = (ms: number | undefined) => ((ms ?? 0) / 1000).toFixed(2);
    const missed = [...this.#missed].sort((a, b) => a - b);
    t.comment(
      `figure: ${this.#what}: ${this.#count} times, ${sorted.length} streams went on after ` +
        `${seconds(sorted[sorted.length >> 1])} s (median), at most ${seconds(sorted.at(-1))} s; ` +
        `${missed[missed.length >> 1]} events missed per stream (median), at most ${missed.at(-1)}`,
    );
  }
}
