/** Asks each machine once per run what it is, and for its values, so that the registry has both when it is gone. */
import { OWN_ACCOUNT } from '../access/caller.ts';
import type { Clock } from '../clock.ts';
import { ServiceError } from '../errors.ts';
import { ALL_SECTIONS } from '../host/host.ts';
import { parseObject } from '../json.ts';
import { textOf } from '../machine/machine.ts';
import type { Machines } from '../machine/machines.ts';
import type { Registry } from '../machine/registry.ts';
import type { RemoteMachine } from '../machine/remote.ts';
import { viewOf } from '../stats/view.ts';

/** The viewers of a machine that has just come go first. */
const FIRST_MS = 2000;
/** A thousand machines that connect together are asked within half a minute. */
const NEXT_MS = 30;

const SYSTEM = { what: 'system', params: { detail: true }, client: OWN_ACCOUNT };
const EVERYTHING = viewOf(ALL_SECTIONS, false);

export class FirstQuestions {
  readonly #hosts: () => Pick<Machines, 'at'>;
  readonly #registry: Pick<Registry, 'takeSystem'>;
  readonly #clock: Pick<Clock, 'setTimer' | 'clearTimer'>;
  readonly #firstMs: number;
  /** Ids, in the order in which the machines came. */
  readonly #waiting = new Set<string>();
  /** The run that a machine was asked in. */
  readonly #asked = new WeakMap<RemoteMachine, string>();
  #timer: unknown;

  /** `firstMs`: from the first machine that waits to its question. */
  constructor(
    hosts: () => Pick<Machines, 'at'>,
    registry: Pick<Registry, 'takeSystem'>,
    clock: Pick<Clock, 'setTimer' | 'clearTimer'>,
    firstMs = FIRST_MS,
  ) {
    this.#hosts = hosts;
    this.#registry = registry;
    this.#clock = clock;
    this.#firstMs = firstMs;
  }

  /** Adds a machine that is up in a run of which nothing is known. */
  add(id: string): void {
    this.#waiting.add(id);
    this.#timer ??= this.#clock.setTimer(() => this.#next(), this.#firstMs);
  }

  close(): void {
    this.#clock.clearTimer(this.#timer);
    this.#waiting.clear();
  }

  #next(): void {
    this.#timer = undefined;
    const [id] = this.#waiting;
    if (id === undefined) return;
    this.#waiting.delete(id);
    const host = this.#hosts().at(id);
    const run = host?.status?.run;
    if (this.#waiting.size > 0) this.#timer = this.#clock.setTimer(() => this.#next(), NEXT_MS);
    if (host?.isUp !== true || run === undefined || this.#asked.get(host) === run) return;
    this.#asked.set(host, run);
    void this.#ask(host, run);
  }

  /** Without an answer the machine is asked again in its next run only: it may refuse the hub this question. */
  async #ask(host: RemoteMachine, run: string): Promise<void> {
    try {
      const system = parseObject(textOf(await host.ask(SYSTEM)));
      if (system !== undefined) this.#registry.takeSystem(host.id, run, system);
      await host.usage(EVERYTHING, OWN_ACCOUNT);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
  }
}
