/**
 * Commands from the broker: which messages are commands, how they are carried out, and the feedback. A sender that may publish
 * on their topics has been let through by the broker.
 */
import type { Clock } from '../../clock.ts';
import type { Commands, Follower, Outcome, Sender, Step } from '../../commands/command.ts';
import type { ErrorCode, ServiceError } from '../../errors.ts';
import type { Log } from '../../log/log.ts';
import type { Message } from './connection.ts';
import { RecentCommands } from './recent.ts';
import { type CommandRequest, type Flaw, isFlaw, readRequest } from './request.ts';

/** Published on the feedback topic. */
export interface Feedback {
  readonly command: string;
  readonly id?: string | number | undefined;
  /** `ignored`: retained, sent again, or too old. `refused`: not begun. */
  readonly stage: 'accepted' | Step['stage'] | 'refused' | 'ignored';
  readonly success: boolean;
  readonly message: string;
  readonly code?: ErrorCode | keyof typeof IGNORED | undefined;
}

export interface DoorOptions {
  readonly commands: Pick<Commands, 'prepare'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly unixMs: () => number;
  readonly log: Log;
  /** The broker. */
  readonly sender: Sender;
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
const MAX_AGE_SECONDS = 10;
const COMMANDS_PER_SECOND = 20;
const BURST = 40;
/** Commands that wait for a player or for processes to end. */
const MAX_RUNNING = 16;
const FLOOD_REPORT_MS = 60_000;

export class CommandDoor {
  readonly #options: DoorOptions;
  readonly #recent = new RecentCommands();
  #running = 0;
  #fullAtMs = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  readonly #cleared = new Set<string>();

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  /** A connection was made: what is sent again by others comes now. */
  begin(): void {
    this.#recent.begin(this.#options.clock.now());
    this.#cleared.clear();
  }

  /** Takes a message; never throws. */
  take(message: Message): void {
    const name = this.#options.nameOf(message.topic);
    // An empty message removes a retained one: its own echo must not be a command.
    if (name === undefined || message.payload.length === 0) return;
    if (message.isRetained) this.#removeRetained(name, message.topic);
    else if (this.#options.isStale())
      this.#options.log.debug(`mqtt: ${name} came in while the machine slept`);
    else this.#judge(name, message);
  }

  #judge(name: string, message: Message): void {
    const request = this.#hasTurn() ? readRequest(name, message.payload) : TOO_MANY;
    if (isFlaw(request)) {
      this.#refuse(name, undefined, request);
      return;
    }
    const reason = this.#whyIgnored(request, message);
    if (reason === undefined) void this.#run(request, message);
    else this.#ignore(request.name, request.id, reason);
  }

  #removeRetained(name: string, topic: string): void {
    // One that may not be removed comes back with each connection.
    if (this.#cleared.has(topic)) return;
    this.#cleared.add(topic);
    this.#options.log.warn(`mqtt: a retained message on ${topic} is no command and is removed`);
    this.#options.clear(topic);
    this.#ignore(name, undefined, 'retained');
  }

  /** At most 20 commands per second, 40 at once. */
  #hasTurn(): boolean {
    const now = this.#options.clock.now();
    const fullAtMs = Math.max(this.#fullAtMs, now) + 1000 / COMMANDS_PER_SECOND;
    const isGranted = fullAtMs - now <= (BURST * 1000) / COMMANDS_PER_SECOND;
    if (isGranted) this.#fullAtMs = fullAtMs;
    return isGranted;
  }

  #whyIgnored({ id, sentAt }: CommandRequest, message: Message): keyof typeof IGNORED | undefined {
    const { clock, unixMs } = this.#options;
    // On one connection nothing is lost, and what belongs to an older one is late.
    if (message.isRepeated || this.#recent.isKnown(message, id, clock.now())) return 'duplicate';
    return sentAt !== undefined && unixMs() / 1000 - sentAt > MAX_AGE_SECONDS ? 'expired' : undefined;
  }

  async #run(request: CommandRequest, message: Message): Promise<void> {
    const { commands, sender, log, clock } = this.#options;
    const { name, params, id } = request;
    if (this.#running >= MAX_RUNNING) {
      this.#refuse(name, id, TOO_MANY);
      return;
    }
    this.#running++;
    let isBegun = false;
    try {
      const run = commands.prepare(name, params, sender);
      isBegun = true;
      this.#recent.note(message, id, clock.now());
      await this.#conclude(request, await run(this.#followerOf(request)));
    } catch (error) {
      if (!isServiceError(error)) log.error(`mqtt: ${name} failed: ${String(error)}`);
      const failure = isServiceError(error) ? flawOf(error) : BROKEN;
      if (isBegun) this.#say({ command: name, id, stage: 'failed', success: false, ...failure });
      else this.#refuse(name, id, failure);
    } finally {
      this.#running--;
    }
  }

  #followerOf({ name, id }: CommandRequest): Follower {
    return ({ stage, message }) => {
      const success = stage === 'running' || stage === 'done';
      const code = stage === 'failed' ? ('action_failed' as const) : undefined;
      this.#say({ command: name, id, stage, success, message, code });
    };
  }

  async #conclude({ name, id }: CommandRequest, outcome: Outcome): Promise<void> {
    const { result, failure, isFollowed, onDelivered } = outcome;
    const said = { command: name, id };
    if (failure !== undefined) {
      this.#say({ ...said, stage: 'failed', success: false, ...flawOf(failure) });
      return;
    }
    const { message: given } = result;
    const message = typeof given === 'string' ? given : 'Done';
    const stage = isFollowed === true ? 'accepted' : 'done';
    const isSent = await this.#options.answer({ ...said, stage, success: true, message });
    onDelivered?.(isSent ? 'sent' : 'closed');
  }

  #refuse(name: string, id: string | number | undefined, flaw: Flaw): void {
    if (flaw === TOO_MANY) this.#reportFlood();
    this.#say({ command: name, id, stage: 'refused', success: false, ...flaw });
  }

  #reportFlood(): void {
    const now = this.#options.clock.now();
    if (now - this.#reportedAtMs < FLOOD_REPORT_MS) return;
    this.#reportedAtMs = now;
    this.#options.log.warn('mqtt: there are too many commands, some are refused');
  }

  #ignore(name: string, id: string | number | undefined, code: keyof typeof IGNORED): void {
    this.#options.log.debug(`mqtt: ${name} ignored: ${code}`);
    this.#say({ command: name, id, stage: 'ignored', success: false, message: IGNORED[code], code });
  }

  #say(feedback: Feedback): void {
    void this.#options.answer(feedback);
  }
}

const TOO_MANY: Flaw = { code: 'too_many_requests', message: 'There are too many commands.' };
const BROKEN: Flaw = { code: 'internal_error', message: 'The service failed; its log says why.' };
const IGNORED = {
  retained: 'A retained message is no command; it was removed.',
  duplicate: 'This command was received before.',
  expired: `This command was sent more than ${MAX_AGE_SECONDS} s ago.`,
};

/** By its name: the bundle that this is in has no class of its own for it. */
const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && error.name === 'ServiceError';

function flawOf({ code, message, details }: ServiceError): Flaw {
  const reason = details?.['reason'];
  return { code, message: typeof reason === 'string' ? `${message} ${reason}` : message };
}
