/** Writes the book of a hub: that a machine went and is back, and what machines say of themselves, with their ids here. */
import { OWN_ACCOUNT } from '../access/caller.ts';
import type { Clock } from '../clock.ts';
import { ServiceError } from '../errors.ts';
import { PLACES } from '../fairness/limits.ts';
import { type EventBook, type EventSubject, keyOf } from '../history/event-book.ts';
import { type JsonObject, parseObject } from '../json.ts';
import type { Listeners } from '../listeners.ts';
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

/** A machine whose events are followed. */
interface Known {
  readonly machine: RemoteMachine;
  /** Ends following; undefined: it is not there. */
  end: (() => void) | undefined;
  /** The number of its newest event in the book, by its own count; undefined: it was never asked. */
  last: number | undefined;
  /** The events that have come while it is asked what was missed; undefined: it is not. */
  since: RemoteEvent[] | undefined;
  /** Keys of events of rules that lasted when its service ended, and are not reported by the next one yet. */
  readonly unconfirmed: Set<string>;
  timer: unknown;
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
    for (const { timer } of this.#known.values()) this.#deps.clock.clearTimer(timer);
  }

  #look(id: string): void {
    const machine = this.#deps.machines.at(id);
    const before = this.#known.get(id);
    if (before !== undefined && before.machine !== machine) {
      this.#unfollow(before);
      this.#deps.clock.clearTimer(before.timer);
      this.#known.delete(id);
    }
    if (machine === undefined) {
      this.#endAll(id, () => true);
      return;
    }
    this.#judge(machine);
    const known = this.#known.get(id) ?? {
      machine,
      end: undefined,
      last: undefined,
      since: undefined,
      unconfirmed: new Set<string>(),
      timer: undefined,
    };
    this.#known.set(id, known);
    // Its entry has another address, or it never was there: what is known is of another machine.
    if (machine.status === undefined) {
      known.last = undefined;
      this.#endAll(id, () => true);
    }
    if (machine.isUp) this.#follow(known);
    else this.#unfollow(known);
  }

  /** Begins and ends the events of its condition. */
  #judge(machine: RemoteMachine): void {
    const { id, name, condition } = machine;
    const { state, since, reason } = condition;
    // One that never was up is not missed.
    const isGone = (state === 'down' || state === 'refused') && machine.status !== undefined;
    const wanted = isGone ? 'down' : state === 'asleep' || state === 'off' ? state : undefined;
    for (const subject of OWN_SUBJECTS) {
      const begun = this.#begunOf(id, subject);
      if (begun !== undefined && subject !== wanted)
        this.#end(begun, since, state === 'up' ? `${name} is up again` : `${name} is no longer ${subject}`);
    }
    if (wanted === undefined || this.#begunOf(id, wanted) !== undefined) return;
    this.#deps.book.add({
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

  #begunOf(machine: string, subject: Own): MachineEvent | undefined {
    return this.#deps.book.begun({ machine, kind: 'machine', subject });
  }

  #end(begun: MachineEvent, at: number, text: string): void {
    const { id: _, processes: __, ...event } = begun;
    this.#deps.book.add({ ...event, state: 'end', end: Math.max(at, event.begin), value: null, text });
  }

  /** Ends what lasts there. */
  #endAll(machine: string, isOver: (event: MachineEvent) => boolean): void {
    const now = Date.now() / 1000;
    for (const event of this.#deps.book.open)
      if (event.machine === machine && isOver(event)) this.#end(event, now, `Has ended: ${event.text}`);
  }

  #follow(known: Known): void {
    const { machine } = known;
    if (known.end !== undefined) return;
    // Before the question, so that nothing is missed between them.
    known.end = machine.followTopic('events', {
      onPayload: (json) => {
        const events = eventsIn([parseObject(json)]);
        // Some may be in the answer, too.
        if (known.since === undefined) this.#take(known, events);
        else if (known.since.length < PLACES.missedEvents.max) known.since.push(...events);
      },
      onChange: () => undefined,
      onLost: () => void this.#catchUp(known),
    })?.end;
    void this.#catchUp(known);
  }

  #unfollow(known: Known): void {
    known.end?.();
    known.end = undefined;
  }

  /** Asks for what was missed, and for what lasts. */
  async #catchUp(known: Known): Promise<void> {
    const { machine, last } = known;
    if (known.since !== undefined || !machine.isUp) return;
    const since: RemoteEvent[] = [];
    known.since = since;
    const params = last === undefined ? { limit: 1 } : { since: last, limit: PLACES.missedEvents.max };
    try {
      const { bytes } = await machine.ask({ what: 'events', params, client: OWN_ACCOUNT });
      if (known.end !== undefined) this.#takeList(known, parseObject(bytes) ?? {});
    } catch (error) {
      // It may not let the hub read, or be gone again.
      if (!(error instanceof ServiceError)) throw error;
    } finally {
      known.since = undefined;
      if (known.end !== undefined) this.#take(known, since);
    }
  }

  #takeList(known: Known, { last, missing, open, events }: JsonObject): void {
    if (typeof last !== 'number') return;
    const { id } = known.machine;
    // Its count may have begun again.
    const isOfNext = missing === true && known.last !== undefined;
    if (isOfNext) known.last = -1;
    if (known.last !== undefined) this.#take(known, eventsIn(events));
    known.last = last;
    const lasting = eventsIn(open).slice(0, PLACES.openEvents.max);
    const keys = new Set(lasting.map((event) => keyOf({ ...event, machine: id })));
    if (isOfNext) this.#wait(known);
    this.#endAll(id, (event) => {
      const key = keyOf(event);
      return !isOwn(event) && !keys.has(key) && !known.unconfirmed.has(key);
    });
    for (const event of lasting) this.#put(known, event);
  }

  /** Rules of a service that has started again need their time to find what still lasts. */
  #wait(known: Known): void {
    const { clock, book } = this.#deps;
    const { machine, unconfirmed } = known;
    for (const event of book.open)
      if (event.machine === machine.id && event.kind === 'rule') unconfirmed.add(keyOf(event));
    clock.clearTimer(known.timer);
    known.timer = clock.setTimer(() => {
      const keys = new Set(unconfirmed);
      unconfirmed.clear();
      this.#endAll(machine.id, (event) => keys.has(keyOf(event)));
    }, CONFIRM_MS);
  }

  /** Those that the book does not have. */
  #take(known: Known, events: readonly RemoteEvent[]): void {
    for (const event of events) {
      if (event.id <= (known.last ?? -1)) continue;
      known.last = event.id;
      this.#put(known, event);
    }
  }

  /** An end without a beginning is no news, nor is a beginning of what lasts. */
  #put({ machine: { id: machine }, unconfirmed }: Known, { id: _, ...event }: RemoteEvent): void {
    const { book } = this.#deps;
    unconfirmed.delete(keyOf({ ...event, machine }));
    const isBegin = event.state === 'begin';
    const isKnown = book.begun({ ...event, machine }) !== undefined;
    if (isOwn(event) || isBegin === isKnown) return;
    if (isBegin && book.open.filter((each) => each.machine === machine).length >= PLACES.openEvents.max)
      return;
    book.add({ ...event, machine });
  }
}

const eventsIn = (list: unknown): readonly RemoteEvent[] =>
  Array.isArray(list) ? list.map(readEvent).filter((event) => event !== undefined) : [];
