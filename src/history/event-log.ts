/** The events of this machine in one form: numbered, the newest thousand kept, and those that still last. */
import type { CurrentConfig } from '../config/current.ts';
import { Listeners } from '../listeners.ts';
import type { MachineEvent } from '../wire/events.ts';
import type { HistoryEvent } from '../wire/history.ts';
import type { History } from './history.ts';
import { severityOf } from './incidents.ts';
import type { Mutes } from './mutes.ts';
import { rulesIn } from './rules.ts';
import { sentenceOf } from './sentences.ts';

/** Maximum number of events in memory. */
const MAX_EVENTS = 1000;

export interface EventLogDeps {
  readonly history: Pick<History, 'onEvent'>;
  /** `watch.rules`. */
  readonly config: CurrentConfig;
  /** The id of the machine. */
  readonly machine: string;
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

/** An event without the processes that used most then, for clients that may not see them. */
export function withoutCause(event: MachineEvent): MachineEvent {
  const { processes: _, ...others } = event;
  return others;
}

export class EventLog {
  readonly #deps: EventLogDeps;
  readonly #events: MachineEvent[] = [];
  /** Begun and not ended, by subject. */
  readonly #open = new Map<string, MachineEvent>();
  readonly #listeners = new Listeners<[event: MachineEvent]>();
  /** Number of the newest event, at first the one that a service which begins now would have reached. */
  #last: number;
  /** Events up to this number are not kept. */
  #before: number;

  constructor(deps: EventLogDeps) {
    this.#deps = deps;
    this.#last = deps.unixMs();
    this.#before = this.#last;
    deps.history.onEvent((event) => this.#add(event));
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

  #add(event: HistoryEvent): void {
    const { config, machine, unixMs } = this.#deps;
    const { at, kind = 'rule', rule: name, series, state, value, processes } = event;
    const isRule = kind === 'rule';
    const subject = isRule ? `${name} ${series}` : name;
    const begun = this.#open.get(subject);
    const rule = isRule ? rulesIn(config.current.watch)[name] : undefined;
    const severity = isRule ? rule?.severity : severityOf(name);
    const added: MachineEvent = {
      // Milliseconds, so that numbers grow over restarts without a file.
      id: Math.max(this.#last + 1, unixMs()),
      machine,
      kind,
      subject,
      severity: severity ?? begun?.severity ?? 'warning',
      state,
      begin: begun?.begin ?? at,
      end: state === 'end' ? at : null,
      value,
      limit: rule?.above ?? rule?.below ?? begun?.limit ?? null,
      text: isRule ? sentenceOf(event, rule) : event.text,
      ...(processes === undefined ? {} : { processes }),
    };
    this.#last = added.id;
    if (state === 'begin') this.#open.set(subject, added);
    else this.#open.delete(subject);
    this.#events.push(added);
    if (this.#events.length > MAX_EVENTS) this.#before = this.#events.shift()?.id ?? this.#before;
    this.#listeners.notify(added);
  }
}
