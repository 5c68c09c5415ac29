/**
 * Commands from a broker: which messages are commands, how they are carried out, and the feedback. A sender that may publish
 * on their topics has been let through by the broker.
 */

import type { Caller } from '../../../access/caller.ts';
import type { Clock } from '../../../clock.ts';
import { type Follower, type Outcome, type Step, sentenceOf } from '../../../commands/command.ts';
import { type ErrorCode, ServiceError } from '../../../errors.ts';
import { PLACES, RATES } from '../../../fairness/limits.ts';
import { Bucket } from '../../../fairness/rate.ts';
import type { Log } from '../../../log/log.ts';
import type { Commands } from '../../../machine/commands.ts';
import type { Message } from '../../../mqtt/line.ts';
import { type CommandRequest, type Flaw, flawOf, isFlaw, readRequest } from './command-request.ts';
import { RecentCommands } from './recent-commands.ts';

/** Published on the feedback topic. */
export interface Feedback {
  readonly command: string;
  readonly id?: string | number | undefined;
  /** `ignored`: retained, sent again, or too old. `refused`: not begun. */
  readonly stage: Step['stage'] | 'refused' | 'ignored';
  readonly success: boolean;
  readonly message: string;
  readonly code?: ErrorCode | keyof typeof IGNORED | undefined;
}

export interface CommandAdapterOptions {
  readonly commands: Pick<Commands, 'prepare'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly unixMs: () => number;
  readonly log: Log;
  /** The broker, which is the caller of all of them. */
  readonly peer: Caller;
  /** The name of a command by its topic; undefined: the topic is none of a command. */
  readonly nameOf: (topic: string) => string | undefined;
  /** Resolves when the broker has it. Never rejects: false where it could not be published. */
  readonly answer: (feedback: Feedback) => Promise<boolean>;
  /** Removes the message that the broker keeps for `topic`. */
  readonly clear: (topic: string) => void;
  /** Whether the messages of the present connection may be as old as a sleep of the machine. */
  readonly isStale: () => boolean;
}

/** Age at which a command that says when it was sent is no longer done. */
const FRESH_SECONDS = 10;
const FLOOD_REPORT_MS = 60_000;

export class CommandAdapter {
  readonly #options: CommandAdapterOptions;
  readonly #recent = new RecentCommands();
  readonly #messages: Bucket;
  #running = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  /** Topics with a retained message. */
  readonly #reported = new Set<string>();

  constructor(options: CommandAdapterOptions) {
    this.#options = options;
    this.#messages = new Bucket(RATES.messages, options.clock.now());
  }

  /** A connection was made: what is sent again by others comes now. */
  begin(): void {
    this.#recent.begin(this.#options.clock.now());
    this.#reported.clear();
  }

  /** Takes a message; never throws. */
  take(message: Message): void {
    const name = this.#options.nameOf(message.topic);
    // An empty message removes a retained one: its own echo must not be a command.
    if (name === undefined || message.payload.length === 0) return;
    if (message.isRetained) this.#removeRetained(name, message.topic);
    else if (this.#options.isStale())
      this.#options.log.debug(`mqtt: ignored ${name}, which arrived while the machine slept`);
    else this.#judge(name, message);
  }

  #judge(name: string, message: Message): void {
    const request = readRequest(name, message.payload);
    const named = isFlaw(request) ? { name } : request;
    if (!this.#messages.takeOne(this.#options.clock.now())) {
      this.#refuse({ ...named, name }, TOO_MANY);
      return;
    }
    if (isFlaw(request)) {
      this.#refuse(named, request);
      return;
    }
    const reason = this.#whyIgnored(request, message);
    if (reason === undefined) void this.#run(request, message);
    else this.#ignore(request, reason);
  }

  #removeRetained(name: string, topic: string): void {
    const { log, clear } = this.#options;
    // A message that may not be removed comes back with each connection.
    if (!this.#reported.has(topic))
      log.warn(`mqtt: a retained message on ${topic} is not a command and is removed`);
    this.#reported.add(topic);
    clear(topic);
    this.#ignore({ name }, 'retained');
  }

  #whyIgnored({ id, sentAt }: CommandRequest, message: Message): keyof typeof IGNORED | undefined {
    const { clock, unixMs } = this.#options;
    // On one connection nothing is lost, and what belongs to an older one is late.
    if (message.isRepeated || this.#recent.isKnown(message, id, clock.now())) return 'duplicate';
    return sentAt !== undefined && unixMs() / 1000 - sentAt > FRESH_SECONDS ? 'expired' : undefined;
  }

  async #run(request: CommandRequest, message: Message): Promise<void> {
    const { commands, peer, log, clock } = this.#options;
    const { name, params, id } = request;
    if (this.#running >= PLACES.brokerCommands.max) {
      this.#refuse(request, TOO_MANY);
      return;
    }
    this.#running++;
    let isBegun = false;
    try {
      const run = commands.prepare(name, params, peer);
      isBegun = true;
      this.#recent.note(message, id, clock.now());
      const outcome = await run(this.#followerOf(request));
      // Not awaited: a command whose answer is on its way to the broker no longer runs. The link limits the answers.
      void this.#conclude(request, outcome);
    } catch (error) {
      if (!(error instanceof ServiceError)) log.error(`mqtt: ${name} failed: ${String(error)}`);
      const failure = error instanceof ServiceError ? flawOf(error) : BROKEN;
      if (isBegun) this.#fail(request, failure);
      else this.#refuse(request, failure);
    } finally {
      this.#running--;
    }
  }

  #followerOf({ name, id }: CommandRequest): Follower {
    const onStep = ({ stage, message }: Step) => {
      const success = stage === 'running' || stage === 'done';
      const code = stage === 'failed' ? ('action_failed' as const) : undefined;
      void this.#options.answer({ command: name, id, stage, success, message, code });
    };
    return { owner: this, onStep };
  }

  async #conclude(request: CommandRequest, outcome: Outcome): Promise<void> {
    const { name, id } = request;
    const { result, failure, isFollowed, onDelivered } = outcome;
    if (failure !== undefined) {
      this.#fail(request, flawOf(failure));
      return;
    }
    const message = sentenceOf(result);
    const stage = isFollowed === true ? 'accepted' : 'done';
    const isSent = await this.#options.answer({ command: name, id, stage, success: true, message });
    onDelivered?.(isSent ? 'sent' : 'closed');
  }

  #fail({ name, id }: Named, { code, message }: Flaw): void {
    void this.#options.answer({ command: name, id, stage: 'failed', success: false, message, code });
  }

  #refuse({ name, id }: Named, flaw: Flaw): void {
    if (flaw === TOO_MANY) this.#reportFlood();
    const { code, message } = flaw;
    void this.#options.answer({ command: name, id, stage: 'refused', success: false, message, code });
  }

  #reportFlood(): void {
    const now = this.#options.clock.now();
    if (now - this.#reportedAtMs < FLOOD_REPORT_MS) return;
    this.#reportedAtMs = now;
    this.#options.log.warn(`mqtt: too many commands; some are refused`);
  }

  #ignore({ name, id }: Named, code: keyof typeof IGNORED): void {
    this.#options.log.debug(`mqtt: ${name} ignored: ${code}`);
    const message = IGNORED[code];
    void this.#options.answer({ command: name, id, stage: 'ignored', success: false, message, code });
  }
}

/** The identification of a command in its feedback. */
type Named = Pick<CommandRequest, 'name'> & { readonly id?: CommandRequest['id'] };

const TOO_MANY: Flaw = { code: 'too_many_requests', message: 'Too many commands.' };
const BROKEN: Flaw = { code: 'internal_error', message: 'The service failed; its log has the reason.' };
const IGNORED = {
  retained: 'A retained message is not a command, and was removed.',
  duplicate: 'This command was received before.',
  expired: `This command was sent more than ${FRESH_SECONDS} s ago.`,
};
