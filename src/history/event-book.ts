/** The events of one machine, or of all of a hub: numbered, the newest thousand kept, and those that still last. */
import { REMEMBERED } from '../fairness/limits.ts';
import { Listeners } from '../listeners.ts';
import type { EventList, MachineEvent } from '../wire/events.ts';
import type { Mutes } from './mutes.ts';

export interface EventBookDeps {
  readonly mutes: Mutes;
  /** Unix milliseconds. */
  readonly unixMs: () => number;
}

/** Events after one that a client has had. */
export interface EventsSince {
  readonly events: readonly MachineEvent[];
  /** Some are no longer kept, or the number is from another service. */
  readonly isIncomplete: boolean;
}

/** The subject of an event: the same for its beginning, its end and its next beginning. */
export type EventSubject = Pick<MachineEvent, 'machine' | 'kind' | 'subject'>;

export const keyOf = ({ machine, kind, subject }: EventSubject): string =>
  JSON.stringify([machine, kind, subject]);

/** An event without the processes that used most then, for clients that may not see them. */
export function withoutCause(event: MachineEvent): MachineEvent {
  const { processes: _, ...others } = event;
  return others;
}

export class EventBook {
  readonly #deps: EventBookDeps;
  readonly #events: MachineEvent[] = [];
  /** Begun and not ended, by their keys. */
  readonly #open = new Map<string, MachineEvent>();
  readonly #listeners = new Listeners<[event: MachineEvent]>();
  /** Number of the newest event, at first the one that a service which begins now would have reached. */
  #last: number;
  /** Events up to this number are not kept. */
  #before: number;

  constructor(deps: EventBookDeps) {
    this.#deps = deps;
    this.#last = deps.unixMs();
    this.#before = this.#last;
  }

  get mutes(): Mutes {
    return this.#deps.mutes;
  }

  /** The number of the newest event. */
  get last(): number {
    return this.#last;
  }

  /** The events that last, oldest first. */
  get open(): readonly MachineEvent[] {
    return [...this.#open.values()];
  }

  /** The beginning of what lasts; undefined: it does not. */
  begun(subject: EventSubject): MachineEvent | undefined {
    return this.#open.get(keyOf(subject));
  }

  /** Calls `listener` with each event, until the returned function is called. */
  onEvent(listener: (event: MachineEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** The events after the one with this number; undefined: all that are kept. */
  since(id: number | undefined): EventsSince {
    const isIncomplete = id !== undefined && (id < this.#before || id > this.#last);
    if (id === undefined || isIncomplete) return { events: [...this.#events], isIncomplete };
    return { events: this.#events.filter((event) => event.id > id), isIncomplete };
  }

  /** The data of an `eventsRequest` and their answer. */
  list(
    { since, limit }: { readonly since?: number | undefined; readonly limit: number },
    seesProcesses: boolean,
  ): EventList {
    const { events, isIncomplete } = this.since(since);
    const shown = (event: MachineEvent) => (seesProcesses ? event : withoutCause(event));
    return {
      last: this.#last,
      missing: isIncomplete,
      open: this.open.map(shown),
      mutes: this.mutes.list,
      events: events.slice(-limit).map(shown),
    };
  }

  /** Gives it the next number. */
  add(event: Omit<MachineEvent, 'id'>): void {
    // Milliseconds, so that numbers grow over restarts without a file.
    const added = { id: Math.max(this.#last + 1, this.#deps.unixMs()), ...event };
    this.#last = added.id;
    const key = keyOf(event);
    if (event.state === 'begin') this.#open.set(key, added);
    else this.#open.delete(key);
    this.#events.push(added);
    if (this.#events.length > REMEMBERED.events) this.#before = this.#events.shift()?.id ?? this.#before;
    this.#listeners.notify(added);
  }
}
