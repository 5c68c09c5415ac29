/**
 * Commands from a broker or a dialled hub: which messages are commands, how they are carried out, and the feedback. A
 * sender that may publish on their topics has been let through by the broker.
 */

import type { Caller } from '../../../access/caller.ts';
import type { Clock } from '../../../clock.ts';
import { type Follower, type Outcome, type Step, sentenceOf } from '../../../commands/command.ts';
import { type ErrorCode, ServiceError } from '../../../errors.ts';
import { Places } from '../../../fairness/places.ts';
import type { Log } from '../../../log/log.ts';
import type { Commands } from '../../../machine/commands.ts';
import type { Message } from '../../../mqtt/line.ts';
import {
  type CommandRequest,
  type Flaw,
  flawOf,
  isFlaw,
  readableFlawOf,
  readRequest,
  type Unread,
} from './command-request.ts';
import { RecentCommands } from './recent-commands.ts';
import { Turns } from './sender-turns.ts';

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

/** Sent with a feedback to a hub, which answers its own client with it. */
export interface Aside {
  readonly caller?: Caller | undefined;
  /** The reply of the command, as HTTP has it, and whether its target took it. */
  readonly result?: Outcome['result'];
  readonly delivered?: Outcome['delivered'];
  /** The details of the error. */
  readonly details?: Flaw['details'];
}

export interface CommandAdapterOptions {
  readonly commands: Pick<Commands, 'prepare'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly unixMs: () => number;
  readonly log: Log;
  /** The beginning of its lines in the log; `mqtt` if absent. */
  readonly subject?: string;
  /** The caller of messages that do not name one: the broker. */
  readonly peer: Caller;
  /** Throws ServiceError where the other side may not have this command carried out; absent: the broker decides. */
  readonly check?: (name: string) => void;
  /** Reads the request of a message; readRequest if absent. */
  readonly read?: (name: string, payload: Buffer) => CommandRequest | Unread;
  /** The name of a command by its topic; undefined: the topic is none of a command. */
  readonly nameOf: (topic: string) => string | undefined;
  /** Resolves when the broker has it. Never rejects: false where it could not be published. */
  readonly answer: (feedback: Feedback, aside: Aside) => Promise<boolean>;
  /** Removes the message that the broker keeps for `topic`; absent where this service may not. */
  readonly clear?: (topic: string) => void;
  /** Whether the messages of the present connection may be as old as a sleep of the machine. */
  readonly isStale: () => boolean;
}

/** Age at which a command that says when it was sent is no longer done. */
const MAX_AGE_SECONDS = 10;
/** Commands that wait for a player or for processes to end; one client of a hub may have a quarter. */
const MAX_RUNNING = 16;
/** Messages that do not name a client are those of the broker's users, whom it has let through. */
const TRUSTED = { address: '', isKeyed: true };
const FLOOD_REPORT_MS = 60_000;

export class CommandAdapter {
  readonly #options: CommandAdapterOptions;
  readonly #subject: string;
  readonly #recent = new RecentCommands();
  readonly #turns: Turns;
  readonly #running = new Places(MAX_RUNNING);
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  /** Topics with a retained message. */
  readonly #reported = new Set<string>();

  constructor(options: CommandAdapterOptions) {
    this.#options = options;
    this.#subject = options.subject ?? 'mqtt';
    this.#turns = new Turns(options.clock);
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
      this.#options.log.debug(`${this.#subject}: ignored ${name}, which arrived while the machine slept`);
    else this.#judge(name, message);
  }

  #judge(name: string, message: Message): void {
    const { read = readRequest } = this.#options;
    const request = read(name, message.payload);
    const { id, caller } = request;
    if (!this.#turns.take(caller?.via?.hub)) {
      this.#refuse({ name, id, caller }, TOO_MANY);
      return;
    }
    if (isFlaw(request)) {
      this.#refuse({ name, id, caller }, request);
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
      log.warn(
        `${this.#subject}: a retained message on ${topic} is not a command and is ${clear === undefined ? 'ignored' : 'removed'}`,
      );
    this.#reported.add(topic);
    clear?.(topic);
    this.#ignore({ name }, 'retained');
  }

  #whyIgnored(
    { id, key = id, sentAt, lateness }: CommandRequest,
    message: Message,
  ): keyof typeof IGNORED | undefined {
    const { clock, unixMs } = this.#options;
    // On one connection nothing is lost, and what belongs to an older one is late.
    if (message.isRepeated || this.#recent.isKnown(message, key, clock.now())) return 'duplicate';
    if (lateness !== undefined) return lateness;
    return sentAt !== undefined && unixMs() / 1000 - sentAt > MAX_AGE_SECONDS ? 'expired' : undefined;
  }

  async #run(request: CommandRequest, message: Message): Promise<void> {
    const { commands, peer, log, clock, check } = this.#options;
    const { name, params, id, key = id, caller } = request;
    const who = caller ?? TRUSTED;
    if (!this.#running.hasCapacity(who)) {
      this.#refuse(request, TOO_MANY);
      return;
    }
    this.#running.add(who);
    let isBegun = false;
    try {
      check?.(name);
      const run = commands.prepare(name, params, caller ?? peer);
      isBegun = true;
      this.#recent.note(message, key, clock.now());
      if (request.withStages === true) this.#reportBegun(request);
      const outcome = await run(this.#followerOf(request));
      // Not awaited: a command whose answer is on its way to the broker no longer runs. The link limits the answers.
      void this.#conclude(request, outcome);
    } catch (error) {
      if (!(error instanceof ServiceError)) log.error(`${this.#subject}: ${name} failed: ${String(error)}`);
      const failure = error instanceof ServiceError ? this.#flawOf(request, error) : BROKEN;
      if (isBegun) this.#fail(request, failure);
      else this.#refuse(request, failure);
    } finally {
      this.#running.remove(who);
    }
  }

  /** A power action is accepted first, and reports its beginning itself. */
  #reportBegun({ name, id, caller }: CommandRequest): void {
    if (name.startsWith('power.')) return;
    const begun = { command: name, id, stage: 'running' as const, success: true, message: 'Running' };
    void this.#options.answer(begun, { caller });
  }

  #followerOf({ name, id, caller }: CommandRequest): Follower {
    const onStep = ({ stage, message }: Step) => {
      const success = stage === 'running' || stage === 'done';
      const code = stage === 'failed' ? ('action_failed' as const) : undefined;
      void this.#options.answer({ command: name, id, stage, success, message, code }, { caller });
    };
    return { owner: this, onStep };
  }

  #flawOf({ caller }: CommandRequest, error: ServiceError): Flaw {
    return caller === undefined ? readableFlawOf(error) : flawOf(error);
  }

  async #conclude(request: CommandRequest, outcome: Outcome): Promise<void> {
    const { name, id, caller } = request;
    const { result, failure, isFollowed, onDelivered, delivered } = outcome;
    const aside = { caller, result, ...(delivered !== undefined && { delivered }) };
    if (failure !== undefined) {
      this.#fail(request, this.#flawOf(request, failure), aside);
      return;
    }
    const message = sentenceOf(result);
    const stage = isFollowed === true ? 'accepted' : 'done';
    const isSent = await this.#options.answer({ command: name, id, stage, success: true, message }, aside);
    onDelivered?.(isSent ? 'sent' : 'closed');
  }

  #fail({ name, id, caller }: Named, { details, code, message }: Flaw, aside: Aside = { caller }): void {
    void this.#options.answer(
      { command: name, id, stage: 'failed', success: false, message, code },
      { ...aside, details },
    );
  }

  #refuse({ name, id, caller }: Named, flaw: Flaw): void {
    if (flaw === TOO_MANY) this.#reportFlood();
    const { code, message, details } = flaw;
    void this.#options.answer(
      { command: name, id, stage: 'refused', success: false, message, code },
      { caller, details },
    );
  }

  #reportFlood(): void {
    const now = this.#options.clock.now();
    if (now - this.#reportedAtMs < FLOOD_REPORT_MS) return;
    this.#reportedAtMs = now;
    this.#options.log.warn(`${this.#subject}: too many commands; some are refused`);
  }

  #ignore({ name, id, caller }: Named, code: keyof typeof IGNORED): void {
    this.#options.log.debug(`${this.#subject}: ${name} ignored: ${code}`);
    void this.#options.answer(
      { command: name, id, stage: 'ignored', success: false, message: IGNORED[code], code },
      { caller },
    );
  }
}

/** The identification of a command in its feedback. */
type Named = Pick<CommandRequest, 'name'> & {
  readonly id?: CommandRequest['id'];
  readonly caller?: Caller | undefined;
};

const TOO_MANY: Flaw = { code: 'too_many_requests', message: 'Too many commands.' };
const BROKEN: Flaw = { code: 'internal_error', message: 'The service failed; its log has the reason.' };
const IGNORED = {
  retained: 'A retained message is not a command, and was removed.',
  duplicate: 'This command was received before.',
  expired: `This command was sent more than ${MAX_AGE_SECONDS} s ago.`,
  late: 'The deadline of this command has passed.',
  other_run: 'This command is meant for an earlier run of this service.',
};
