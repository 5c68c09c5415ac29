/**
 * A process that runs one attack after the other, as it is asked over its channel. At the lowest priority: attackers on
 * other machines would not take the service's CPU.
 */
import '../helpers/service/dead-buses.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { randomOf } from '../http/mutate.ts';
import { ATTACKS } from './attacks.ts';
import type { EndingReport } from './endings.ts';
import { type Place, Target } from './target.ts';

/** An attack that has not ended this long after its time is a failure, and its process is ended. */
const END_LIMIT_MS = 30_000;

interface Order {
  readonly name: string;
  readonly place: Place;
  readonly worker: number;
  readonly seed: number;
  readonly seconds: number;
}

interface Outcome {
  readonly operations: number;
  readonly endings?: EndingReport;
  /** Why the attack itself failed; undefined if it did not. */
  readonly error?: string;
}

/** The other end: starts the process and sends it orders. */
export class Attacker {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Outcome>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'exit').then(([code]) => ({
      operations: 0,
      error: `the attacker ended with ${code}`,
    }));
  }

  static start(): Attacker {
    return new Attacker(fork(fileURLToPath(import.meta.url), ['attack'], { execArgv: [] }));
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async run(order: Order): Promise<Outcome> {
    // Each order is answered with an Outcome.
    const answered = once(this.#child, 'message').then(([outcome]) => outcome as Outcome);
    this.#child.send(order);
    const limit = new AbortController();
    const overdue = sleep(order.seconds * 1000 + END_LIMIT_MS, undefined, { signal: limit.signal })
      .then(() => this.#child.kill('SIGKILL'))
      // Aborted, because the attack ended in time.
      .catch(() => undefined);
    const outcome = await Promise.race([answered, this.#ended]);
    limit.abort();
    await overdue;
    return outcome;
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

async function carryOut({ name, place, worker, seed, seconds }: Order): Promise<Outcome> {
  const attack = ATTACKS.find((row) => row.name === name);
  if (attack === undefined) return { operations: 0, error: `there is no attack "${name}"` };
  const random = randomOf(seed);
  const target = new Target(place, random, worker);
  try {
    await attack.run(target, random, AbortSignal.timeout(Math.round(seconds * 1000)));
    const endings = target.endings.report();
    return { operations: target.operations, ...(endings && { endings }) };
  } catch (error) {
    return { operations: target.operations, error: String(error) };
  } finally {
    await target.close();
  }
}

// This file is also the process.
if (process.argv[2] === 'attack') {
  os.setPriority(19);
  process.once('disconnect', () => process.exit(0));
  process.on('message', (order) => {
    // Attacker.run sends it.
    void carryOut(order as Order).then((outcome) => process.send?.(outcome));
  });
}
