/** Writes the book of a hub: that a machine went and is back, and what machines say of themselves, with their ids here. */
import { OWN_ACCOUNT } from '../access/caller.ts';
import type { Clock } from '../clock.ts';
import { ServiceError } from '../errors.ts';
import { PLACES } from '../fairness/limits.ts';
import { type EventBook, type EventSubject, keyOf } from '../history/event-book.ts';
import { type JsonObject, parseObject } from '../json.ts';
import type { Listeners } from '../listeners.ts';
import type { TopicSink } from '../machine/machine.ts';
import type { Machines } from '../machine/machines.ts';
import type { RemoteMachine } from '../machine/remote.ts';
import { type RemoteEvent, readEvent } from '../machine/remote-event.ts';
import type { MachineEvent } from '../wire/events.ts';
import type { Severity } from '../wire/severities.ts';

export interface HubEventsDeps {
  readonly book: EventBook;
  readonly machines: Pick<Machines, 'at' | 'all'>;
  /** Notified of the id of a machine whose condition has changed, or that is gone. */
  readonly conditions: Listeners<readonly [id: string]>;
  readonly clock: Pick<Clock, 'setTimer' | 'clearTimer'>;
}

/** The events that the hub itself knows of, whatever a machine says. A planned end raises no alarm. */
const OWN = { down: 'critical', asleep: 'info', off: 'info' } as const satisfies Record<string, Severity>;
type Own = keyof typeof OWN;
const OWN_SUBJECTS = Object.keys(OWN) as readonly Own[]; // Its own keys are exactly these.
const isOwn = ({ kind, subject }: Pick<EventSubject, 'kind' | 'subject'>): boolean =>
  kind === 'machine' && Object.hasOwn(OWN, subject);

/** Machines that were there before the hub started have this long to come back. */
const FIRST_LOOK_MS = 30_000;
/** A service that has started again reports what lasts within this time, as rules take theirs: the same outage for people. */
const CONFIRM_MS = 900_000;

/** A machine, whose events are followed while it is there. */
class Known implements TopicSink {
  readonly machine: RemoteMachine;
  readonly #deps: Pick<HubEventsDeps, 'book' | 'clock'>;
  /** Ends following; undefined: it is not there. */
  #end: (() => void) | undefined;
  /** The number of its newest event in the book, by its own count; undefined: it was never asked. */
  #last: number | undefined;
  /** The events that have come while it is asked what was missed; undefined: it is not. */
  #since: RemoteEvent[] | undefined;
  /** Keys of events of rules that lasted when its service ended, and are not reported by the next one yet; undefined: none. */
  #unconfirmed: Set<string> | undefined;
  #timer: unknown;

  constructor(machine: RemoteMachine, deps: Pick<HubEventsDeps, 'book' | 'clock'>) {
    this.machine = machine;
    this.#deps = deps;
  }

  close(): void {
    this.unfollow();
    this.#deps.clock.clearTimer(this.#timer);
  }

  follow(): void {
    if (this.#end !== undefined) return;
    // Before the question, so that nothing is missed between them.
    this.#end = this.machine.followTopic('events', this)?.end;
    void this.#catchUp();
  }

  unfollow(): void {
    this.#end?.();
    this.#end = undefined;
  }

  onPayload(json: string): void {
    const events = eventsIn([parseObject(json)]);
    // Some may be in the answer, too.
    if (this.#since === undefined) this.#take(events);
    else if (this.#since.length < PLACES.missedEvents.max) this.#since.push(...events);
  }

  onChange(): void {}

  onLost(): void {
    void this.#catchUp();
  }

  /** Asks for what was missed, and for what lasts. */
  async #catchUp(): Promise<void> {
    if (this.#since !== undefined || !this.machine.isUp) return;
    const since: RemoteEvent[] = [];
    this.#since = since;
    const params =
      this.#last === undefined ? { limit: 1 } : { since: this.#last, limit: PLACES.missedEvents.max };
    try {
      const { bytes } = await this.machine.ask({ what: 'events', params, client: OWN_ACCOUNT });
      if (this.#end !== undefined) this.#takeList(parseObject(bytes) ?? {});
    } catch (error) {
      // It may not let the hub read, or be gone again.
      if (!(error instanceof ServiceError)) throw error;
    } finally {
      this.#since = undefined;
      if (this.#end !== undefined) this.#take(since);
    }
  }

  #takeList({ last, missing, open, events }: JsonObject): void {
    if (typeof last !== 'number') return;
    const { id } = this.machine;
    // Its count may have begun again.
    const isOfNext = missing === true && this.#last !== undefined;
    if (isOfNext) this.#last = -1;
    if (this.#last !== undefined) this.#take(eventsIn(events));
    this.#last = last;
    const lasting = eventsIn(open).slice(0, PLACES.openEvents.max);
    const keys = new Set(lasting.map((event) => keyOf({ ...event, machine: id })));
    if (isOfNext) this.#wait();
    endAll(this.#deps.book, id, (event) => {
      const key = keyOf(event);
      return !isOwn(event) && !keys.has(key) && this.#unconfirmed?.has(key) !== true;
    });
    for (const event of lasting) this.#put(event);
  }

  /** Rules of a service that has started again need their time to find what still lasts. */
  #wait(): void {
    const { clock, book } = this.#deps;
    const { id } = this.machine;
    const unconfirmed = this.#unconfirmed ?? new Set<string>();
    for (const event of book.open)
      if (event.machine === id && event.kind === 'rule') unconfirmed.add(keyOf(event));
    clock.clearTimer(this.#timer);
    this.#unconfirmed = unconfirmed;
    this.#timer = clock.setTimer(() => {
      this.#unconfirmed = undefined;
      endAll(book, id, (event) => unconfirmed.has(keyOf(event)));
    }, CONFIRM_MS);
  }

  /** Those that the book does not have. */
  #take(events: readonly RemoteEvent[]): void {
    for (const event of events) {
      if (event.id <= (this.#last ?? -1)) continue;
      this.#last = event.id;
      this.#put(event);
    }
  }

  /** An end without a beginning is no news, nor is a beginning of what lasts. */
  #put({ id: _, ...event }: RemoteEvent): void {
    const { book } = this.#deps;
    const { id: machine } = this.machine;
    this.#unconfirmed?.delete(keyOf({ ...event, machine }));
    const isBegin = event.state === 'begin';
    const isKnown = book.begun({ ...event, machine }) !== undefined;
    if (isOwn(event) || isBegin === isKnown) return;
    if (isBegin && book.open.filter((each) => each.machine === machine).length >= PLACES.openEvents.max)
      return;
    book.add({ ...event, machine });
  }
}

export class HubEvents {
  readonly #deps: HubEventsDeps;
  readonly #known = new Map<string, Known>();
  readonly #unlisten: () => void;
  readonly #timer: unknown;

  constructor(deps: HubEventsDeps) {
    const { conditions, clock, machines } = deps;
    this.#deps = deps;
    this.#unlisten = conditions.add((id) => this.#look(id));
    this.#timer = clock.setTimer(() => {
      for (const { id } of machines.all) this.#look(id);
    }, FIRST_LOOK_MS);
  }

  close(): void {
    this.#unlisten();
    this.#deps.clock.clearTimer(this.#timer);
    for (const known of this.#known.values()) known.close();
  }

  #look(id: string): void {
    const { machines, book } = this.#deps;
    const machine = machines.at(id);
    const isOther = machine?.status === undefined || this.#known.get(id)?.machine !== machine;
    if (isOther) {
      this.#known.get(id)?.close();
      this.#known.delete(id);
    }
    if (machine !== undefined) this.#judge(machine);
    // Its entry has another address, or it never was there: what is known is of another machine.
    if (machine?.status === undefined) endAll(book, id, () => true);
    const known = this.#known.get(id) ?? (machine && new Known(machine, this.#deps));
    if (known === undefined) return;
    this.#known.set(id, known);
    if (known.machine.isUp) known.follow();
    else known.unfollow();
  }

  /** Begins and ends the events of its condition. */
  #judge(machine: RemoteMachine): void {
    const { id, name, condition } = machine;
    const { state, since, reason } = condition;
    const { book } = this.#deps;
    const begunOf = (subject: Own) => book.begun({ machine: id, kind: 'machine', subject });
    // A machine that was never up is not missed.
    const isGone = (state === 'down' || state === 'refused') && machine.status !== undefined;
    const wanted = isGone ? 'down' : state === 'asleep' || state === 'off' ? state : undefined;
    for (const subject of OWN_SUBJECTS) {
      const begun = begunOf(subject);
      if (begun !== undefined && subject !== wanted)
        end(
          this.#deps.book,
          begun,
          since,
          state === 'up' ? `${name} is up again` : `${name} is no longer ${subject}`,
        );
    }
    if (wanted === undefined || begunOf(wanted) !== undefined) return;
    book.add({
      machine: id,
      kind: 'machine',
      subject: wanted,
      severity: OWN[wanted],
      state: 'begin',
      begin: since,
      end: null,
      value: null,
      limit: null,
      text: `${name} is ${wanted}: ${reason}`,
    });
  }
}

function end(book: EventBook, begun: MachineEvent, at: number, text: string): void {
  const { id: _, processes: __, ...event } = begun;
  book.add({ ...event, state: 'end', end: Math.max(at, event.begin), value: null, text });
}

/** Ends what lasts on a machine. */
function endAll(book: EventBook, machine: string, isOver: (event: MachineEvent) => boolean): void {
  const now = Date.now() / 1000;
  for (const event of book.open)
    if (event.machine === machine && isOver(event)) end(book, event, now, `Has ended: ${event.text}`);
}

const eventsIn = (list: unknown): readonly RemoteEvent[] =>
  Array.isArray(list) ? list.map(readEvent).filter((event) => event !== undefined) : [];
