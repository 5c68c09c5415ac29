/** Carries power commands out through the machine's own power manager. */
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { messageOf } from '../errors.ts';
import type { PowerAction, PowerHost, PowerNotice } from '../host/power.ts';
import { Listeners } from '../listeners.ts';
import type { Log } from '../log/log.ts';
import type { Inhibitor } from '../wire/power.ts';
import { absentBackend, type PowerBackend, recordingBackend, type Support } from './power-backend.ts';

export interface HostPowerOptions {
  readonly host: PowerHost;
  readonly clock: Clock;
  readonly log: Log;
}

const GOING: Readonly<Record<PowerNotice, string>> = {
  sleep: 'is going to sleep',
  shutdown: 'is shutting down',
  restart: 'is restarting',
};

/** Maximum time to PrepareForSleep(true): logind delays a sleep by at most 5 s while programs save their work. */
const FALL_ASLEEP_LIMIT_MS = 6000;
/** Maximum time awake between PrepareForSleep(true) and (false); longer means the second signal was lost. */
const WAKE_LIMIT_MS = 30_000;

/** Chooses a backend. `host` undefined: no power manager is supported on this platform. */
export function chooseBackend(
  wanted: Config['power']['backend'],
  { host, clock, log }: Omit<HostPowerOptions, 'host'> & { readonly host: PowerHost | undefined },
): PowerBackend {
  if (wanted === 'record') {
    log.warn('power.backend is record: power commands are recorded, not carried out');
    return recordingBackend(Date.now, log);
  }
  if (host === undefined) return absentBackend('no power manager is supported on this platform');
  return new HostPower({ host, clock, log });
}

export class HostPower implements PowerBackend {
  readonly #options: HostPowerOptions;
  readonly #unlisten: () => void;
  readonly #notices = new Listeners<[notice: PowerNotice | null]>();
  /** Waits for the next notice. */
  #onSignal: ((notice: PowerNotice | null) => void) | undefined;
  /** The last notice. */
  #noticed: PowerNotice | null = null;
  /** The reason that was logged last. */
  #undelayed: string | undefined;
  #stopWaiting: () => void = () => undefined;

  constructor(options: HostPowerOptions) {
    this.#options = options;
    this.#unlisten = options.host.onNotice((notice) => this.#note(notice));
  }

  async support(action: PowerAction): Promise<Support> {
    const { isSupported, reason } = await this.#options.host.support(action);
    return isSupported
      ? { isSupported: true, reason: null }
      : { isSupported: false, reason: reason ?? 'the power manager reported no reason' };
  }

  async act(action: PowerAction, { isForced }: { readonly isForced: boolean }): Promise<void> {
    const { host, log } = this.#options;
    if (isForced) log.info(`power: ${action} is forced`);
    if (action !== 'sleep' && action !== 'hibernate') return await host.act(action);
    // Before the call: the machine may be asleep before its answer is read.
    const slept = this.#sleepEnded();
    try {
      await host.act(action);
    } catch (error) {
      slept.giveUp();
      throw error;
    }
    await slept.end;
  }

  async inhibitors(): Promise<readonly Inhibitor[]> {
    const { host, log } = this.#options;
    try {
      return await host.inhibitors();
    } catch (error) {
      const reason = messageOf(error);
      log.warn(`power: cannot read inhibitors: ${reason}`);
      return [];
    }
  }

  async delaySleep(why: string): Promise<void> {
    try {
      await this.#options.host.delaySleep(why);
      this.#undelayed = undefined;
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== this.#undelayed) this.#options.log.info(`power: cannot delay sleep: ${reason}`);
      this.#undelayed = reason;
    }
  }

  allowSleep(): void {
    this.#options.host.allowSleep();
  }

  onNotice(listener: (notice: PowerNotice | null) => void): void {
    this.#notices.add(listener);
  }

  close(): void {
    this.#unlisten();
    this.#stopWaiting();
  }

  #note(notice: PowerNotice | null): void {
    const hasSlept = this.#noticed === null || this.#noticed === 'sleep';
    this.#noticed = notice;
    const over = hasSlept ? 'has woken' : 'continues: the shutdown was cancelled';
    this.#options.log.info(`power: the machine ${notice === null ? over : GOING[notice]}`);
    this.#notices.notify(notice);
    this.#onSignal?.(notice);
  }

  /** `end` settles when the machine has woken, or when a signal is overdue. Never rejects. */
  #sleepEnded(): { readonly end: Promise<void>; readonly giveUp: () => void } {
    const { clock } = this.#options;
    let finish: () => void = () => undefined;
    const end = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let timer = clock.setTimer(() => giveUp(), FALL_ASLEEP_LIMIT_MS);
    const giveUp = () => {
      clock.clearTimer(timer);
      this.#onSignal = undefined;
      finish();
    };
    this.#stopWaiting = giveUp;
    this.#onSignal = (notice) => {
      if (notice === null) return giveUp();
      clock.clearTimer(timer);
      timer = clock.setTimer(() => giveUp(), WAKE_LIMIT_MS);
    };
    return { end, giveUp };
  }
}
