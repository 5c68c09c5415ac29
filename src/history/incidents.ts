/** Events that no rule reports: of the machine, of access, and of the disk of the history. */
import type { Clock } from '../clock.ts';
import type { HistoryEvent, HistoryMark } from '../wire/history.ts';
import type { EventKind, Severity } from '../wire/severities.ts';

/** Subjects with their kinds. A planned restart raises no alarm. */
const SUBJECTS = {
  crashed: { kind: 'machine', severity: 'warning' },
  restarted: { kind: 'machine', severity: 'info' },
  wrong_keys: { kind: 'access', severity: 'warning' },
  history: { kind: 'storage', severity: 'warning' },
} as const satisfies Readonly<Record<string, { kind: EventKind; severity: Severity }>>;

type Subject = keyof typeof SUBJECTS;

/** Those that are more than news. */
export const PROBLEM_SUBJECTS = Object.entries(SUBJECTS).flatMap(([name, { severity }]) =>
  severity === 'info' ? [] : [name],
);

export const isSubject = (name: string): name is Subject => Object.hasOwn(SUBJECTS, name);

export const severityOf = (name: string): Severity | undefined =>
  isSubject(name) ? SUBJECTS[name].severity : undefined;

export interface IncidentsOptions {
  readonly clock: Pick<Clock, 'setTimer' | 'clearTimer'>;
  /** Unix milliseconds. */
  readonly unixMs: () => number;
  readonly report: (event: HistoryEvent) => void;
}

/** What happens in a moment lasts this long: Alertmanager waits before it sends, and would never see it. */
const MOMENT_MS = 300_000;
/** So many wrong keys within this time are no slip of a user. */
const MANY_WRONG_KEYS = 20;
const WRONG_KEYS_MS = 600_000;

export class Incidents {
  readonly #options: IncidentsOptions;
  readonly #open = new Set<Subject>();
  readonly #timers = new Map<Subject, unknown>();
  #wrongKeys = 0;

  constructor(options: IncidentsOptions) {
    this.#options = options;
  }

  /** Takes the marks of a start. */
  readonly onMarks = (marks: readonly HistoryMark[]): void => {
    const crash = marks.find(({ kind }) => kind === 'crash');
    const boot = marks.find(({ kind }) => kind === 'boot');
    if (crash !== undefined) this.#note('crashed', crash);
    else if (boot !== undefined) this.#note('restarted', boot);
  };

  /** Counts a request with a wrong key. */
  readonly onWrongKey = (address: string): void => {
    if (!this.#timers.has('wrong_keys')) this.#countWrongKeys();
    if (++this.#wrongKeys !== MANY_WRONG_KEYS) return;
    const minutes = WRONG_KEYS_MS / 60_000;
    const text = `${MANY_WRONG_KEYS} requests with a wrong key within ${minutes} min, the last one from ${address}`;
    this.#begin('wrong_keys', text);
  };

  /** `reason`: why the history is not written; undefined: it is again. */
  readonly onPause = (reason: string | undefined): void => {
    if (reason === undefined) this.#end('history', 'Recording on disk continues');
    else this.#begin('history', `Recording on disk is paused: ${reason}`);
  };

  close(): void {
    for (const timer of this.#timers.values()) this.#options.clock.clearTimer(timer);
    this.#timers.clear();
  }

  #countWrongKeys(): void {
    this.#wrongKeys = 0;
    this.#setTimer('wrong_keys', WRONG_KEYS_MS, () => {
      if (this.#wrongKeys >= MANY_WRONG_KEYS) this.#countWrongKeys();
      else this.#end('wrong_keys', 'Requests with a wrong key have become rare');
    });
  }

  #note(subject: Subject, { at, text }: HistoryMark): void {
    this.#begin(subject, text, at);
    this.#setTimer(subject, MOMENT_MS, () => this.#end(subject, text));
  }

  #setTimer(subject: Subject, delayMs: number, fire: () => void): void {
    const { clock } = this.#options;
    clock.clearTimer(this.#timers.get(subject));
    const timer = clock.setTimer(() => {
      this.#timers.delete(subject);
      fire();
    }, delayMs);
    this.#timers.set(subject, timer);
  }

  #begin(subject: Subject, text: string, at = this.#options.unixMs() / 1000): void {
    if (this.#open.has(subject)) return;
    this.#open.add(subject);
    this.#report(subject, 'begin', at, text);
  }

  #end(subject: Subject, text: string): void {
    if (this.#open.delete(subject)) this.#report(subject, 'end', this.#options.unixMs() / 1000, text);
  }

  #report(subject: Subject, state: HistoryEvent['state'], at: number, text: string): void {
    const { kind } = SUBJECTS[subject];
    this.#options.report({ at, kind, rule: subject, state, series: '', value: null, text });
  }
}
