/** The worker as the store sees it: numbered requests, their answers, and whether it still answers. */
import { Worker } from 'node:worker_threads';
import type { Answer, Notice, Numbered, Reply, Request, WorkerOptions } from './messages.ts';
import { WORKER_URL } from './worker.ts';

/**
 * MiB. A minute of 200 series takes 0.1 of them, the largest answer 3; SQLite's own memory is not included. A worker
 * that takes more ends, and is restarted.
 */
const LIMITS = {
  maxOldGenerationSizeMb: 24,
  maxYoungGenerationSizeMb: 2,
  codeRangeSizeMb: 8,
  stackSizeMb: 1,
};

export interface ThreadOptions {
  readonly worker: WorkerOptions['hostwireStore'];
  readonly onNotice: (notice: Notice) => void;
  /** Called when it ended on its own; requests without an answer are rejected. */
  readonly onEnd: (reason: string) => void;
}

export class Thread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, (answer: Answer) => void>();
  readonly ended: Promise<void>;
  #count = 0;
  #isEnding = false;

  constructor({ worker, onNotice, onEnd }: ThreadOptions) {
    const workerData: WorkerOptions = { hostwireStore: worker };
    this.#worker = new Worker(WORKER_URL, {
      workerData,
      name: 'history',
      resourceLimits: LIMITS,
      // The warning of node:sqlite is for programmers. Neither stream is for this program's own output.
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdout: true,
      stderr: true,
    });
    this.#worker.unref();
    let reason = 'its worker exited';
    this.#worker.on('error', (error) => {
      reason = error.message;
    });
    this.#worker.on('message', ({ notices, id, ...answer }: Reply) => {
      for (const notice of notices) onNotice(notice);
      this.#settle(id, answer);
    });
    this.ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        for (const id of [...this.#pending.keys()]) this.#settle(id, { kind: 'failed', reason });
        if (!this.#isEnding) onEnd(reason);
        resolve();
      });
    });
  }

  /** Requests without an answer. */
  get pending(): number {
    return this.#pending.size;
  }

  #settle(id: number, answer: Answer): void {
    const settle = this.#pending.get(id);
    this.#pending.delete(id);
    settle?.(answer);
  }

  /** Never rejects. */
  ask(request: Request): Promise<Answer> {
    const id = this.#count++;
    const message: Numbered = { ...request, id };
    if (request.kind === 'close') this.#isEnding = true;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      this.#worker.postMessage(message);
    });
  }

  terminate(): void {
    this.#isEnding = true;
    void this.#worker.terminate();
  }
}
