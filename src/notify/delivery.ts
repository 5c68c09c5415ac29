/**
 * Decides what is sent to one target, and when: per outage its beginning once and its end once, in that order, one message at
 * a time.
 */
import { type Clock, settlesWithin } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { TargetEntry } from '../config/rows/notify-rows.ts';
import { PLACES } from '../fairness/limits.ts';
import { keyOf } from '../history/event-book.ts';
import type { Log } from '../log/log.ts';
import type { MachineEvent } from '../wire/events.ts';
import { SEVERITIES, type Severity } from '../wire/severities.ts';
import { isDown, type Message, messageOf, restOf, type Stage } from './message.ts';
import type { Kept, Outage } from './outage.ts';
import type { Outcome } from './target.ts';

export interface DeliveryOptions {
  /** The name of the target. */
  readonly name: string;
  readonly entry: Pick<TargetEntry, 'type' | 'min_severity'>;
  readonly limits: Omit<Config['notify'], 'targets' | 'heartbeat'>;
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  readonly unixMs: () => number;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** The name of a machine, for people. */
  readonly nameOf: (machine: string) => string;
  /** People are told nothing of it now. */
  readonly isMuted: (event: MachineEvent) => boolean;
  /** Never rejects. */
  readonly attempt: (message: Message, signal: AbortSignal) => Promise<Outcome>;
  /** `kept` would return something else now. */
  readonly onChange: () => void;
}

const HOUR_MS = 3_600_000;
const REPEAT_MS = 60_000;
const FIRST_PAUSE_MS = 5000;
const LAST_PAUSE_MS = 900_000;
/** An outage of the last run that the feed does not report within this time has ended meanwhile. */
const CONFIRM_MS = 900_000;
/** The same of a machine that was down: a hub looks at all of them half a minute after its start. */
const CONFIRM_DOWN_MS = 60_000;

const toSeconds = (unixMs: number) => Math.floor(unixMs / 1000);
const rankOf = (severity: Severity) => SEVERITIES.indexOf(severity);

export class Delivery {
  readonly #options: DeliveryOptions;
  /** All that is not over, in the order of their beginnings. */
  readonly #outages = new Set<Outage>();
  /** Those that have not ended, by their keys. */
  readonly #open = new Map<string, Outage>();
  /** Machines that are down. */
  readonly #down = new Set<string>();
  readonly #abort = new AbortController();
  #sentAtMs: number[];
  /** Outages that were dropped because there were too many, since the last message that counted them. */
  #uncounted: number;
  /** The outages of the message that is on its way; undefined: none is. */
  #sending: ReadonlySet<Outage> | undefined;
  /** Settles when the last message was answered, and noted. */
  #noted = Promise.resolve();
  #isClosed = false;
  #failures = 0;
  #isFailing = false;
  #pausedUntilMs = 0;
  #timer: unknown;
  readonly #confirmTimers: readonly unknown[];
  /** For Alertmanager: beginnings are sent again while they last, and nothing is limited. */
  readonly #isRepeated: boolean;

  constructor(options: DeliveryOptions, kept: Kept, open: readonly MachineEvent[]) {
    this.#options = options;
    const { clock, entry } = options;
    this.#isRepeated = entry.type === 'alertmanager';
    const now = clock.now();
    this.#sentAtMs = kept.sentAgoMs.map((ago) => now - ago);
    this.#uncounted = kept.uncounted;
    for (const { begin, end, state, dueInMs } of kept.outages)
      this.#add({ key: keyOf(begin), begin, end, state, dueAtMs: now + dueInMs, isConfirmed: false });
    for (const event of open) this.#begin(event);
    const confirmations = [
      [isDown, CONFIRM_DOWN_MS],
      [() => true, CONFIRM_MS],
    ] as const;
    this.#confirmTimers = (this.#open.size === 0 ? [] : confirmations).map(([isMeant, afterMs]) =>
      clock.setTimer(() => this.#endUnconfirmed(isMeant), afterMs),
    );
    this.#planPump();
  }

  take(event: MachineEvent): void {
    if (this.#isClosed) return;
    if (event.state === 'begin') this.#begin(event);
    else this.#end(event);
    this.#options.onChange();
    this.#planPump();
  }

  /** Something else may be muted now. */
  reconsider(): void {
    if (!this.#isClosed) this.#planPump();
  }

  get kept(): Kept {
    const now = this.#options.clock.now();
    return {
      outages: [...this.#outages].map(({ begin, end, state, dueAtMs }) => ({
        begin,
        end,
        state,
        dueInMs: Math.max(0, dueAtMs - now),
      })),
      sentAgoMs: this.#recent(now).map((at) => now - at),
      uncounted: this.#uncounted,
    };
  }

  /**
   * Sends nothing more. A message that is on its way has `limitMs` to be answered; then it is given up, and the next run sends
   * it again, with its id.
   */
  async close(limitMs = 0): Promise<void> {
    this.#isClosed = true;
    this.#options.clock.clearTimer(this.#timer);
    for (const timer of this.#confirmTimers) this.#options.clock.clearTimer(timer);
    if (limitMs > 0) await settlesWithin(this.#noted, limitMs);
    this.#abort.abort();
  }

  #begin(event: MachineEvent): void {
    const { entry, limits, clock } = this.#options;
    if (isDown(event)) this.#down.add(event.machine);
    const key = keyOf(event);
    const known = this.#open.get(key);
    if (known !== undefined) {
      // After a restart it may begin again: the same outage for people.
      known.isConfirmed = true;
      return;
    }
    if (rankOf(event.severity) < rankOf(entry.min_severity) || !this.#makeRoom()) return;
    const heldBack = isDown(event) ? limits.grace_seconds : limits.batch_seconds;
    const dueAtMs = clock.now() + heldBack * 1000;
    this.#add({ key, begin: event, end: undefined, state: 'waiting', dueAtMs, isConfirmed: true });
  }

  #add(outage: Outage): void {
    this.#outages.add(outage);
    if (outage.end !== undefined) return;
    this.#open.set(outage.key, outage);
    if (isDown(outage.begin)) this.#down.add(outage.begin.machine);
  }

  /** Drops the oldest outage that no message was sent of; false: there is none. */
  #makeRoom(): boolean {
    if (this.#outages.size < PLACES.outages.max) return true;
    const oldest = this.#findOldest();
    if (oldest?.state !== 'dropped' && this.#uncounted++ === 0)
      this.#options.log.warn(
        `notify.targets.${this.#options.name}: more than ${PLACES.outages.max} events wait, so the oldest are dropped`,
      );
    if (oldest !== undefined) this.#remove(oldest);
    return oldest !== undefined;
  }

  #findOldest(): Outage | undefined {
    // Usually the first one: a copy for each of thousands of events would take long.
    for (const outage of this.#outages)
      if (outage.state === 'dropped' || this.#isUnknown(outage)) return outage;
    return undefined;
  }

  /** Whether the target knows nothing of it, and will not by the message that is on its way. */
  #isUnknown(outage: Outage): boolean {
    return outage.state === 'waiting' && this.#sending?.has(outage) !== true;
  }

  #end(event: MachineEvent): void {
    const now = this.#options.clock.now();
    const outage = this.#open.get(keyOf(event));
    const isHeld = outage !== undefined && this.#isHeld(outage);
    if (isDown(event)) this.#release(event.machine, now);
    if (outage === undefined) return;
    this.#open.delete(outage.key);
    outage.end = event;
    const isBrief = isDown(outage.begin) && now < outage.dueAtMs;
    outage.dueAtMs = now;
    if (outage.state === 'dropped' || ((isHeld || isBrief) && this.#isUnknown(outage))) this.#remove(outage);
  }

  /** A machine is back: what still lasts there is due when its ends had time to arrive. */
  #release(machine: string, now: number): void {
    this.#down.delete(machine);
    for (const outage of this.#open.values())
      if (outage.begin.machine === machine && outage.state === 'waiting')
        outage.dueAtMs = Math.max(outage.dueAtMs, now + this.#options.limits.batch_seconds * 1000);
  }

  /**
   * A machine that is down silences its other events, and so do people; Alertmanager would take silence for the end of those
   * it knows.
   */
  #isHeld({ begin, state }: Outage): boolean {
    const isSilenced = (this.#down.has(begin.machine) && !isDown(begin)) || this.#options.isMuted(begin);
    return isSilenced && !(this.#isRepeated && state === 'sent');
  }

  #remove(outage: Outage): void {
    this.#outages.delete(outage);
    if (this.#open.get(outage.key) === outage) this.#open.delete(outage.key);
  }

  #endUnconfirmed(isMeant: (begin: MachineEvent) => boolean): void {
    const end = toSeconds(this.#options.unixMs());
    for (const { begin, isConfirmed } of [...this.#open.values()])
      if (!isConfirmed && isMeant(begin)) this.take({ ...begin, state: 'end', end });
  }

  /** Whether it has a message that waits for its time only. */
  #isReady(outage: Outage): boolean {
    if (this.#isHeld(outage) || outage.state === 'dropped') return false;
    return outage.state === 'waiting' || outage.end !== undefined || this.#isRepeated;
  }

  #recent(now: number): number[] {
    return this.#sentAtMs.filter((at) => now - at < HOUR_MS);
  }

  /** Also once for all events of a turn, of which there may be thousands. */
  #planPump(delayMs = 0): void {
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = this.#options.clock.setTimer(() => this.#pump(), delayMs);
  }

  /** Sends the next message if it is due, or sets the timer for it. */
  #pump(): void {
    const { clock, limits } = this.#options;
    if (this.#sending !== undefined || this.#isClosed) return;
    const now = clock.now();
    this.#sentAtMs = this.#recent(now);
    const room = this.#isRepeated ? PLACES.outages.max : limits.max_per_hour - this.#sentAtMs.length;
    const ready = [...this.#outages]
      .filter((outage) => this.#isReady(outage))
      .sort((a, b) => a.dueAtMs - b.dueAtMs);
    const [first] = ready;
    if (first === undefined && (this.#isRepeated || this.#uncounted === 0)) return;
    const roomAtMs = room > 0 ? 0 : (this.#sentAtMs[0] ?? 0) + HOUR_MS;
    const atMs = Math.max(first?.dueAtMs ?? 0, roomAtMs, this.#pausedUntilMs);
    if (atMs > now) {
      this.#planPump(atMs - now);
      return;
    }
    const due = ready.filter((outage) => outage.dueAtMs <= now);
    const isRest = first === undefined || (room === 1 && due.length + this.#uncounted > 1);
    this.#noted = isRest ? this.#sendRest(due) : this.#sendOne(first);
  }

  async #sendOne(outage: Outage): Promise<void> {
    const { begin, end, state } = outage;
    const isKnown = state === 'sent';
    const stage: Stage = end === undefined ? (isKnown ? 'lasts' : 'begin') : isKnown ? 'end' : 'was';
    const message = messageOf(stage, begin, end, this.#options.nameOf(begin.machine));
    const result = await this.#send([outage], message);
    if (result === undefined) return;
    if (stage === 'begin') outage.state = result;
    // Its end may have arrived meanwhile, and is due then.
    if (outage.end === undefined) outage.dueAtMs = this.#options.clock.now() + REPEAT_MS;
    if (end !== undefined || (outage.end !== undefined && outage.state === 'dropped')) this.#remove(outage);
    this.#proceed();
  }

  /** Sends one message for all of them. */
  async #sendRest(due: readonly Outage[]): Promise<void> {
    const { limits, unixMs } = this.#options;
    const uncounted = this.#uncounted;
    const ended = due.filter(({ state }) => state === 'sent').length;
    const counts = { began: due.length - ended + uncounted, ended };
    const texts = due.slice(0, 5).map(({ begin }) => begin.text);
    const highest = Math.max(0, ...due.map(({ begin }) => rankOf(begin.severity)));
    const severity = SEVERITIES[highest] ?? 'info';
    const message = restOf(counts, texts, severity, limits.max_per_hour, toSeconds(unixMs()));
    if ((await this.#send(due, message)) === undefined) return;
    this.#uncounted -= uncounted;
    for (const outage of due)
      if (outage.end === undefined) outage.state = 'dropped';
      else this.#remove(outage);
    this.#proceed();
  }

  /** Returns the state of a beginning that was sent so; undefined: it stays due, or nothing is sent any more. */
  async #send(outages: readonly Outage[], message: Message): Promise<'sent' | 'dropped' | undefined> {
    const { attempt, clock } = this.#options;
    this.#sending = new Set(outages);
    const outcome = await attempt(message, this.#abort.signal);
    this.#sending = undefined;
    if (this.#abort.signal.aborted) return undefined;
    const now = clock.now();
    this.#report(outcome);
    if (outcome.kind === 'gone') {
      this.#outages.clear();
      this.#open.clear();
      void this.close();
      this.#options.onChange();
      return undefined;
    }
    if (outcome.kind === 'failed') {
      const pauseMs = Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures++);
      this.#pausedUntilMs = now + Math.max(pauseMs, outcome.pauseMs);
      this.#pump();
      return undefined;
    }
    this.#failures = 0;
    if (outcome.kind === 'refused') return 'dropped';
    if (!this.#isRepeated) this.#sentAtMs.push(now);
    return 'sent';
  }

  #proceed(): void {
    this.#options.onChange();
    this.#pump();
  }

  /** One line when it begins to fail, and one when it works again. */
  #report(outcome: Outcome): void {
    const { log, name } = this.#options;
    const at = `notify.targets.${name}`;
    if (outcome.kind === 'sent') {
      if (this.#isFailing) log.info(`${at}: messages are accepted again`);
      this.#isFailing = false;
    } else if (outcome.kind === 'gone')
      log.warn(`${at}: ${outcome.reason}, so it is off until the configuration changes`);
    else {
      const effect =
        outcome.kind === 'failed' ? 'messages are kept and sent again' : 'such messages are dropped';
      if (!this.#isFailing) log.warn(`${at}: ${outcome.reason}; ${effect}`);
      this.#isFailing = true;
    }
  }
}
