/** Passes on to sessions what changes on this machine: its players, its power, events of watch rules, and its sleep. */
import type { Clock } from '../../clock.ts';
import type { Media } from '../../commands/media.ts';
import { isSleep, type Power } from '../../commands/power.ts';
import type { History } from '../../history/history.ts';
import type { HistoryEvent } from '../../wire/history.ts';

/** Maximum time awake between the notice of a sleep and that of its end; longer means that the second was lost. */
const SLEEP_NOTICE_MS = 60_000;

export interface MachineSession {
  mediaChanged(): void;
  powerChanged(): void;
  sendEvent(event: HistoryEvent): void;
  setAsleep(isAsleep: boolean): void;
}

export interface MachineSources {
  readonly clock: Pick<Clock, 'now'>;
  readonly media: Pick<Media, 'onChange'>;
  readonly power: Pick<Power, 'onChange' | 'onPlan'>;
  readonly history: Pick<History, 'onEvent'>;
}

export class MachineEvents<Session extends MachineSession> {
  /** The open sessions. */
  readonly sessions = new Set<Session>();
  readonly #now: () => number;
  #asleepAtMs: number | undefined;
  /** Removes the listeners. */
  readonly #unlisten: readonly (() => void)[];

  constructor({ clock, media, power, history }: MachineSources) {
    this.#now = clock.now;
    this.#unlisten = [
      media.onChange(() => this.sessions.forEach((session) => session.mediaChanged())),
      power.onChange(() => this.sessions.forEach((session) => session.powerChanged())),
      history.onEvent((event) => this.sessions.forEach((session) => session.sendEvent(event))),
      power.onPlan((plan) => {
        const isGoingToSleep = isSleep(plan);
        this.#asleepAtMs = isGoingToSleep ? clock.now() : undefined;
        for (const session of this.sessions) session.setAsleep(isGoingToSleep);
      }),
    ];
  }

  /** Whether the machine is about to sleep, or sleeps. */
  get isAsleep(): boolean {
    return this.#asleepAtMs !== undefined && this.#now() - this.#asleepAtMs < SLEEP_NOTICE_MS;
  }

  /** Adds a session, which is informed of a sleep that has begun. */
  add(session: Session): void {
    this.sessions.add(session);
    if (this.isAsleep) session.setAsleep(true);
  }

  close(): void {
    for (const unlisten of this.#unlisten) unlisten();
  }
}
