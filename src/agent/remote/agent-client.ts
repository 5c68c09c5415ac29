/** Asks one agent: questions, and commands with deadlines by the agent's own clock. */
import { OWN_ACCOUNT } from '../../access/caller.ts';
import { isQuestion } from '../../machine/requests.ts';
import { notDone } from '../protocol/feedback.ts';
import { AgentClock, type ClockReading } from './agent-clock.ts';
import type { Ask, HostAnswer, RemoteClient } from './ask.ts';
import type { Calls } from './calls.ts';
import type { RemoteDeps } from './deps.ts';

const CLOCK = { what: 'clock', params: {} };

export class AgentClient implements RemoteClient {
  readonly #id: string;
  readonly #calls: Calls;
  readonly #deps: RemoteDeps;
  readonly #agentClock = new AgentClock();
  /** Commands that need the clock share one question: it does not wait for others, so they must not become many. */
  #clockRequest: Promise<unknown> | undefined;

  constructor(id: string, calls: Calls, deps: RemoteDeps) {
    this.#id = id;
    this.#calls = calls;
    this.#deps = deps;
  }

  async ask(ask: Ask): Promise<HostAnswer> {
    if (isQuestion(ask.what)) return await this.#calls.question(this.#id, ask);
    const { deadlineMs } = ask;
    const find = () => this.#agentClock.at(deadlineMs, this.#deps.clock.now());
    if (find() === undefined) await this.#askClock(deadlineMs);
    const deadline = find();
    if (deadline === undefined) throw notDone('its clock is unknown');
    return await this.#calls.command(this.#id, ask, deadline);
  }

  /** Asks whether it is there. The answer is in a feedback. */
  probe(): void {
    const { clock, times } = this.#deps;
    const deadlineMs = clock.now() + times.headMs;
    this.#calls.question(this.#id, { ...CLOCK, who: OWN_ACCOUNT, deadlineMs }).catch(() => undefined);
  }

  async #askClock(deadlineMs: number): Promise<void> {
    this.#clockRequest ??= this.#calls
      .question(this.#id, { ...CLOCK, who: OWN_ACCOUNT, deadlineMs })
      .finally(() => {
        this.#clockRequest = undefined;
      });
    await this.#clockRequest;
  }

  /** A reading that has just arrived. */
  note(reading: ClockReading): void {
    this.#agentClock.take(reading, this.#deps.clock.now());
  }

  /** Another run may come; nothing more comes to what this one was sent. */
  end(reason: string): void {
    this.#agentClock.forget();
    this.#calls.lost(reason, this.#id);
  }
}
