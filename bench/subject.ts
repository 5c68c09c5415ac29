/** Processes under test: each reads lines `COUNT INTERVAL_NS` and answers with the CPU time that it spent. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';

export class Subject {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #waiting: ((line: string) => void)[] = [];
  #failure: Error | undefined;

  constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error(`${command} has no output`);
    this.#lines = createInterface(stdout);
    this.#lines.on('line', (line) => this.#waiting.shift()?.(line));
    const fail = (error: Error) => {
      this.#failure = error;
      // The waiting call fails, because an empty line is not a number.
      for (const answer of this.#waiting.splice(0)) answer('');
    };
    this.#child.on('error', fail);
    this.#child.on('exit', (code) => fail(new Error(`${command} ended with ${code}`)));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Runs `count` rounds, one per `intervalMs` (0: back to back); returns their CPU time in nanoseconds. */
  async run(count: number, intervalMs: number): Promise<number> {
    const answer = new Promise<string>((resolve) => this.#waiting.push(resolve));
    this.#child.stdin?.write(`${count} ${Math.round(intervalMs * 1e6)}\n`);
    const cpuNs = Number.parseInt(await answer, 10);
    if (!Number.isFinite(cpuNs))
      throw this.#failure ?? new Error('a process under test did not answer with a number');
    return cpuNs;
  }

  /** Ends the process and waits until it has ended. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin?.end();
    await ended;
    this.#lines.close();
  }
}
