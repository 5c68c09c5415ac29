/** Carries power commands out through the machine's own power manager. */
import type { Clock } from '../clock.ts';
import type { PowerHost } from '../host/power.ts';
import type { Log } from '../log.ts';
import type { Inhibitor } from '../wire/power.ts';
import type { PowerAction, PowerBackend, Support } from './power-backend.ts';

export interface HostPowerOptions {
  readonly host: PowerHost;
  readonly clock: Clock;
  readonly log: Log;
  /** The machine has woken, whoever put it to sleep; what was asked before is not wanted any more. */
  readonly onWake: () => void;
}

/** logind holds a sleep off for 5 s at most while programs save their work; then it has begun, or never will. */
const FALLS_ASLEEP_MS = 6000;
/** Time awake between the two signs of one sleep; one that takes longer has lost its second sign. */
const WAKES_MS = 30_000;

export class HostPower implements PowerBackend {
  readonly #options: HostPowerOptions;
  readonly #unlisten: () => void;
  /** What waits for the next sign of sleep (true) or waking (false). */
  #onSign: ((isGoingToSleep: boolean) => void) | undefined;
  #stopWaiting: () => void = () => undefined;

  constructor(options: HostPowerOptions) {
    this.#options = options;
    this.#unlisten = options.host.onSleep((isGoingToSleep) => this.#noteSign(isGoingToSleep));
  }

  async support(action: PowerAction): Promise<Support> {
    const { isSupported, reason } = await this.#options.host.support(action);
    return isSupported
      ? { isSupported: true, reason: null }
      : { isSupported: false, reason: reason ?? 'the power manager does not say why' };
  }

  async act(action: PowerAction, { isForced }: { readonly isForced: boolean }): Promise<void> {
    const { host, log } = this.#options;
    if (isForced) log.info(`power: ${action} is forced`);
    if (action !== 'sleep' && action !== 'hibernate') return await host.act(action);
    // Before it is asked for: the machine may sleep before the answer is read.
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
      const reason = error instanceof Error ? error.message : String(error);
      log.warn(`power: what holds the machine up is not known: ${reason}`);
      return [];
    }
  }

  /** Listens no more. */
  close(): void {
    this.#unlisten();
    this.#stopWaiting();
  }

  #noteSign(isGoingToSleep: boolean): void {
    this.#options.log.info(
      isGoingToSleep ? 'power: the machine goes to sleep' : 'power: the machine has woken',
    );
    if (!isGoingToSleep) this.#options.onWake();
    this.#onSign?.(isGoingToSleep);
  }

  /** `end` is when the machine has woken, or as long after as a sign of it may take. Never rejects. */
  #sleepEnded(): { readonly end: Promise<void>; readonly giveUp: () => void } {
    const { clock } = this.#options;
    let finish: () => void = () => undefined;
    const end = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let timer = clock.setTimer(() => giveUp(), FALLS_ASLEEP_MS);
    const giveUp = () => {
      clock.clearTimer(timer);
      this.#onSign = undefined;
      finish();
    };
    this.#stopWaiting = giveUp;
    this.#onSign = (isGoingToSleep) => {
      if (!isGoingToSleep) return giveUp();
      clock.clearTimer(timer);
      timer = clock.setTimer(() => giveUp(), WAKES_MS);
    };
    return { end, giveUp };
  }
}
