/**
 * The history on disk: one SQLite file, which a worker thread writes once per minute. Nothing here waits for it; slots
 * that cannot be written are kept for 10 minutes. Loaded, with the worker in it, if history.path is set.
 */
import type { KeyUses } from '../../access/key-uses.ts';
import { type Clock, settlesWithin, wholeSeconds } from '../../clock.ts';
import { PLACES } from '../../fairness/limits.ts';
import type { Log } from '../../log/log.ts';
import type { HistoryEvent, HistoryMark } from '../../wire/history.ts';
import type { Slot, Store, StoreAnswer, StoreRequest } from '../history.ts';
import type { Incidents } from '../incidents.ts';
import { stopMark } from './lifetimes.ts';
import type { Answer, Batch, BatchHead } from './messages.ts';
import { unpackAnswer } from './pack.ts';
import { Queue } from './queue.ts';
import { hasSqlite } from './sqlite.ts';
import { Thread } from './thread.ts';

export interface StoreOptions {
  /** `history.path`. */
  readonly path: string;
  /** `history.max_megabytes`, which may change. */
  readonly maxMegabytes: () => number;
  readonly log: Log;
  readonly clock: Clock;
  readonly unixMs: () => number;
  /** Start of the service, in Unix seconds. */
  readonly startedAt: number;
  /** Stored with each batch that has news of them; those of an earlier run are added to them. */
  readonly keyUses?: Pick<KeyUses, 'sinceMs' | 'takeNews' | 'returnNews' | 'restore'> | undefined;
  /** Takes the marks of this start, and why writing pauses (undefined: it continues). */
  readonly incidents?: Pick<Incidents, 'onMarks' | 'onPause'> | undefined;
  /** Maximum time that close() waits for its writes. For tests, which may run on a busy machine. */
  readonly closeLimitMs?: number;
}

/** A minute without a slot still writes a heartbeat; slots arrive up to 10 s late. */
const HEARTBEAT_MS = 75_000;
/** A write that takes longer is reported. */
const SILENT_MS = 30_000;
/** A request that waits longer is answered from memory alone. */
const READ_LIMIT_MS = 5000;
const SILENT = 'the disk is not responding';
const CLOSE_LIMIT_MS = 500;
/** Time limit for a worker that was terminated, unless it hangs in the kernel. */
const END_LIMIT_MS = 100;

/** Returns immediately. Undefined if this Node has no SQLite, about which the check of the configuration has warned. */
export function openStore(options: StoreOptions): Store | undefined {
  return hasSqlite() ? new DiskStore(options) : undefined;
}

class DiskStore implements Store {
  readonly #options: StoreOptions;
  readonly #queue = new Queue();
  oldest: number | undefined;
  /** Names of all series on disk. */
  readonly #names = new Set<string>();
  #thread: Thread | undefined;
  #heartbeat: unknown;
  #isPaused = false;
  /** True if a request has passed its limit, and none has been answered since. */
  #isSilent = false;
  /** True if a minute ended while the last batch was being written. */
  #isDue = false;
  #isClosed = false;
  /** True once the uses of keys in an earlier run are known: none are written before. */
  #hasKeyUses = false;
  /** Settled when the names are known, or the file cannot be opened. */
  readonly #opened: Promise<void>;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#opened = this.#write();
  }

  put(slot: Slot): void {
    if (this.#queue.put(slot)) void this.#write();
  }

  /** The worker writes the mark of this start, because it knows the previous one. */
  mark(mark: HistoryMark): void {
    if (mark.kind !== 'start') this.#queue.mark(mark);
  }

  event(event: HistoryEvent): void {
    this.#queue.event(event);
  }

  async read({ names, ...rest }: StoreRequest): Promise<StoreAnswer | 'too_many'> {
    const answer = await this.#ask((thread) => {
      const request = { ...rest, names: [...this.#names].filter(names) };
      return thread.ask({ kind: 'read', request });
    });
    if (answer.kind !== 'read') throw new Error('unexpected answer of the worker');
    return answer.answer === 'too_many' ? 'too_many' : unpackAnswer(answer.answer);
  }

  async processesAt(at: number): Promise<Slot['processes']> {
    const answer = await this.#ask((thread) => thread.ask({ kind: 'processes', at }));
    return answer.kind === 'processes' ? answer.processes : undefined;
  }

  async close(): Promise<boolean> {
    this.#isClosed = true;
    this.#options.clock.clearTimer(this.#heartbeat);
    const thread = this.#thread;
    if (thread === undefined) return true;
    this.#queue.mark(stopMark(this.#head().now));
    // Queued behind the batch that is being written.
    this.#queue.settle(true);
    const batch = this.#take();
    if (batch !== undefined) void thread.ask({ kind: 'close', batch });
    if (await settlesWithin(thread.ended, this.#options.closeLimitMs ?? CLOSE_LIMIT_MS)) return true;
    thread.terminate();
    return await settlesWithin(thread.ended, END_LIMIT_MS);
  }

  #head(): BatchHead {
    const { unixMs, clock, maxMegabytes } = this.#options;
    return {
      now: wholeSeconds(unixMs()),
      sinceBoot: clock.sinceBoot() / 1000,
      maxBytes: maxMegabytes() * 2 ** 20,
    };
  }

  #take(): Batch | undefined {
    const batch = this.#queue.take(this.#head());
    if (batch === undefined) return undefined;
    const { keyUses } = this.#options;
    if (keyUses === undefined || !this.#hasKeyUses) return { ...batch, asksKeyUses: keyUses !== undefined };
    const uses = keyUses.takeNews();
    return uses === undefined ? batch : { ...batch, keyUses: { sinceMs: keyUses.sinceMs, uses } };
  }

  /** Rejects without an answer in time. */
  async #ask(send: (thread: Thread) => Promise<Answer>): Promise<Answer> {
    const thread = this.#isClosed ? undefined : this.#thread;
    if (thread === undefined) throw new Error('the history on disk is not open');
    // Requests are answered one after the other: each would wait for the limit, and those behind it for all
    // of them.
    if (this.#isSilent) throw new Error(SILENT);
    if (thread.pending >= PLACES.historyReads.max) throw new Error('too many requests are pending');
    const { clock } = this.#options;
    let timer: unknown;
    const limit = new Promise<Answer>((resolve) => {
      timer = clock.setTimer(() => {
        this.#isSilent = true;
        resolve({ kind: 'failed', reason: SILENT });
      }, READ_LIMIT_MS);
    });
    const sent = this.#opened.then(() => send(thread));
    void sent.then(() => {
      this.#isSilent = false;
    });
    const answer = await Promise.race([sent, limit]);
    clock.clearTimer(timer);
    if (answer.kind === 'failed') throw new Error(answer.reason);
    return answer;
  }

  /** Sends the queue, unless the last batch has not been answered yet. Never rejects. */
  async #write(): Promise<void> {
    const { clock, path } = this.#options;
    clock.clearTimer(this.#heartbeat);
    if (this.#isClosed) return;
    this.#heartbeat = clock.setTimer(() => void this.#write(), HEARTBEAT_MS);
    const batch = this.#take();
    this.#isDue = batch === undefined;
    if (batch === undefined) return;
    this.#thread ??= this.#startThread();
    const silence = clock.setTimer(
      () => this.#pause(`${path} has not responded for ${SILENT_MS / 1000} s`),
      SILENT_MS,
    );
    const answer = await this.#thread.ask({ kind: 'write', batch });
    clock.clearTimer(silence);
    if (this.#isClosed) return;
    this.#queue.settle(answer.kind === 'written');
    if (answer.kind === 'failed') this.#pause(`${path}: ${answer.reason}`);
    if (answer.kind !== 'written') {
      if (batch.keyUses !== undefined) this.#options.keyUses?.returnNews();
      return;
    }
    if (answer.keyUses !== undefined)
      this.#options.keyUses?.restore(answer.keyUses.uses, answer.keyUses.sinceMs);
    if (answer.marks !== undefined) this.#options.incidents?.onMarks(answer.marks);
    this.#hasKeyUses = true;
    this.oldest = answer.oldest;
    for (const name of answer.names) this.#names.add(name);
    this.#resume();
    if (this.#isDue) void this.#write();
  }

  #startThread(): Thread {
    const { path, startedAt, log } = this.#options;
    return new Thread({
      worker: { path, startedAt },
      onNotice: ({ level, text }) => log[level](text),
      onEnd: () => {
        this.#thread = undefined;
      },
    });
  }

  /** Writes one line per pause, whatever else fails during it. */
  #pause(reason: string): void {
    if (this.#isPaused || this.#isClosed) return;
    this.#isPaused = true;
    this.#options.incidents?.onPause(reason);
    this.#options.log.error(
      `history.path: recording on disk is paused: ${reason}; retrying every minute, while the history in memory continues`,
    );
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#options.incidents?.onPause(undefined);
    const lost = this.#queue.takeLost();
    const loss = lost === 0 ? 'nothing was lost' : `${lost} ${lost === 1 ? 'slot' : 'slots'} of 10 s lost`;
    this.#options.log.info(`history.path: recording on disk continues; ${loss}`);
  }
}
