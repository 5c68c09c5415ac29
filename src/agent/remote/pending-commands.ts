/**
 * Commands that continue after their answer: power actions. Each is followed until its last step, or until nothing more can come
 * of it.
 */
import type { Clock } from '../../clock.ts';
import type { Step } from '../../commands/command.ts';
import { type Feedback, textOf } from '../protocol/feedback.ts';

export type OnStep = (step: Step) => void;

interface Followed {
  readonly agent: string;
  /** The address of the client that sent it. */
  readonly client: string;
  readonly onStep: OnStep;
  timer: unknown;
}

/** The agent has one action with a delay, and those without one are soon over. */
const MAX_PER_AGENT = 16;
const MAX_FOLLOWED = 2000;
/** After the moment at which it is due. */
const END_WITHIN_MS = 60_000;
/** An agent that goes to sleep says so before the action has ended. */
const LAST_WORD_MS = 2000;

const STAGES: ReadonlySet<unknown> = new Set(['running', 'done', 'failed', 'cancelled']);
const isStage = (stage: unknown): stage is 'running' | 'done' | 'failed' | 'cancelled' => STAGES.has(stage);

/** The receiver of the steps of a command, and the latest moment at which the command is due. */
export interface Follow {
  readonly onStep: OnStep;
  readonly untilMs: number;
  readonly client: string;
}

/** Returns the oldest of the client with most: the commands of another one are not given up for its own. */
function oldestOfBusiest(crowd: readonly (readonly [id: string, followed: Followed])[]): string | undefined {
  const clients = new Map<string, { readonly oldest: string; commands: number }>();
  for (const [id, { client }] of crowd) {
    const known = clients.get(client);
    if (known === undefined) clients.set(client, { oldest: id, commands: 1 });
    else known.commands++;
  }
  let busiest: { readonly oldest: string; readonly commands: number } | undefined;
  for (const each of clients.values()) if (each.commands > (busiest?.commands ?? 0)) busiest = each;
  return busiest?.oldest;
}

export class PendingCommands {
  readonly #clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  /** By id, the oldest first. Ids of calls are unique among all agents. */
  readonly #all = new Map<string, Followed>();

  constructor(clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>) {
    this.#clock = clock;
  }

  has(agent: string, id: string): boolean {
    return this.#all.get(id)?.agent === agent;
  }

  /** It was accepted. `untilMs`: the latest moment at which it is due. */
  begin(
    agent: string,
    id: string,
    { message }: Pick<Feedback, 'message'>,
    { onStep, untilMs, client }: Follow,
  ): void {
    const ofAgent = [...this.#all].filter(([, followed]) => followed.agent === agent);
    const crowd =
      ofAgent.length >= MAX_PER_AGENT ? ofAgent : this.#all.size >= MAX_FOLLOWED ? [...this.#all] : [];
    const oldest = oldestOfBusiest(crowd);
    if (oldest !== undefined) this.#giveUp(oldest, 'too many other commands are pending');
    onStep({ stage: 'accepted', message: textOf(message) });
    const followed: Followed = { agent, client, onStep, timer: undefined };
    this.#all.set(id, followed);
    this.#giveUpIn(id, followed, untilMs - this.#clock.now() + END_WITHIN_MS, 'no result was reported');
  }

  /** A feedback to one that is followed. */
  take(agent: string, id: string, { stage, message }: Pick<Feedback, 'stage' | 'message'>): void {
    const followed = this.#all.get(id);
    if (followed?.agent !== agent || !isStage(stage)) return;
    if (stage !== 'running') this.#forget(id, followed);
    followed.onStep({ stage, message: textOf(message) });
  }

  /** Nothing more comes from this agent, unless it is under way; or from any. */
  lost(reason: string, agent?: string): void {
    for (const [id, followed] of [...this.#all])
      if (agent === undefined) this.#giveUp(id, reason);
      else if (followed.agent === agent) this.#giveUpIn(id, followed, LAST_WORD_MS, reason);
  }

  #giveUpIn(id: string, followed: Followed, delayMs: number, reason: string): void {
    this.#clock.clearTimer(followed.timer);
    followed.timer = this.#clock.setTimer(() => this.#giveUp(id, reason), delayMs);
  }

  #giveUp(id: string, message: string): void {
    const followed = this.#all.get(id);
    if (followed === undefined) return;
    this.#forget(id, followed);
    followed.onStep({ stage: 'unknown', message });
  }

  #forget(id: string, { timer }: Followed): void {
    this.#clock.clearTimer(timer);
    this.#all.delete(id);
  }
}
