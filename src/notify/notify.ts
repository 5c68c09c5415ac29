/** Notifications: a delivery for each target of the configuration, and the heartbeat. Loaded where either is configured. */
import { type Clock, deferToNextTurn, settlesWithin } from '../clock.ts';
import type { LiveConfig } from '../config/current.ts';
import type { TargetEntry } from '../config/rows/notify-rows.ts';
import type { Log } from '../log/log.ts';
import type { MachineEvent } from '../wire/events.ts';
import { Delivery } from './delivery.ts';
import type { EventFeed } from './feed.ts';
import { startHeartbeat } from './heartbeat.ts';
import { type KeptTargets, keptParts, readKept, writeKept } from './kept-file.ts';
import type { Message } from './message.ts';
import { type Kept, NOTHING_KEPT } from './outage.ts';
import { attempt } from './target.ts';

export interface NotifyDeps {
  readonly config: LiveConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventFeed;
  /** The name of a machine, for people. */
  readonly nameOf: (machine: string) => string;
  /** The file of the queues; undefined: nothing is kept. */
  readonly path: string | undefined;
  /** Returns the address of a page of a machine, or of all, if other machines can open it. */
  readonly link: (machine: string | undefined) => string | undefined;
  /** Rejects where the service cannot do its work. */
  readonly check: () => Promise<unknown>;
  /** For tests. */
  readonly unixMs?: () => number;
}

export const openNotifications = async (deps: NotifyDeps): Promise<Notifications> =>
  new Notifications(deps, await readKept(deps.path));

interface Target {
  /** The configuration that it was made from. */
  readonly made: string;
  readonly delivery: Delivery;
}

/** The text of an outage takes 2.5 µs to make: writes take 5 % of the time. */
const PAUSE_MS_EACH = 0.05;
/** A shorter pause is the next turn. */
const LONG_PAUSE_MS = 25;
/** Before a write that failed is tried again: a disk may be full for a moment. */
const RETRY_MS = 5000;
/** A service has half a second to close what is not HTTP. */
const LAST_ANSWER_MS = 150;
const LAST_WRITE_MS = 300;

export class Notifications {
  readonly #deps: NotifyDeps;
  readonly #targets = new Map<string, Target>();
  readonly #unlisten: () => void;
  #endHeartbeat = (): void => undefined;
  #heartbeatMade = '';
  #isWritePlanned = false;
  /** The pause before the next write. */
  #pauseMs = 0;
  /** Settles when the last write has. */
  #writing = Promise.resolve();
  #isClosed = false;
  #isFailing = false;

  /** `before`: what the last run has kept in the file. */
  constructor(deps: NotifyDeps, { kept, failure }: KeptTargets) {
    this.#deps = deps;
    const unlisten = [
      deps.events.onEvent((event) => {
        for (const { delivery } of this.#targets.values()) delivery.take(event);
      }),
      deps.events.mutes.onChange(() => {
        for (const { delivery } of this.#targets.values()) delivery.reconsider();
      }),
    ];
    this.#unlisten = () => unlisten.forEach((stop) => stop());
    this.#note(failure);
    this.#configure(kept);
  }

  reconfigure(): void {
    this.#configure(new Map());
  }

  /** Takes less than half a second. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unlisten();
    this.#endHeartbeat();
    await Promise.all([...this.#targets.values()].map(({ delivery }) => delivery.close(LAST_ANSWER_MS)));
    const kept = this.#kept();
    await settlesWithin(
      this.#writing.then(() => this.#write(kept)),
      LAST_WRITE_MS,
    );
  }

  /** A target whose configuration has changed begins anew, with what was on its way. */
  #configure(kept: ReadonlyMap<string, Kept>): void {
    const { notify } = this.#deps.config.current;
    const { targets, heartbeat, ...limits } = notify;
    for (const [name, { delivery }] of this.#targets)
      if (!Object.hasOwn(targets, name)) {
        void delivery.close();
        this.#targets.delete(name);
      }
    for (const [name, entry] of Object.entries(targets)) {
      const made = JSON.stringify([entry, limits]);
      const before = this.#targets.get(name);
      if (before?.made === made) continue;
      void before?.delivery.close();
      const state = before?.delivery.kept ?? kept.get(name) ?? NOTHING_KEPT;
      this.#targets.set(name, { made, delivery: this.#open(name, entry, state) });
    }
    this.#planWrite();
    const made = JSON.stringify(heartbeat);
    if (made === this.#heartbeatMade) return;
    this.#heartbeatMade = made;
    this.#endHeartbeat();
    const { url, interval_seconds } = heartbeat;
    this.#endHeartbeat =
      url === undefined
        ? () => undefined
        : startHeartbeat({ ...this.#deps, url, intervalMs: interval_seconds * 1000 });
  }

  #open(name: string, entry: TargetEntry, kept: Kept): Delivery {
    const { config, events, link, unixMs = Date.now } = this.#deps;
    const target = { name, entry, link, unixMs };
    const options = {
      ...this.#deps,
      ...target,
      limits: config.current.notify,
      isMuted: (event: MachineEvent) => events.mutes.hides(event),
      attempt: (message: Message, signal: AbortSignal) => attempt(message, target, signal),
      onChange: () => this.#planWrite(),
    };
    return new Delivery(options, kept, events.open);
  }

  /** Once for all changes of a turn, one write at a time. A long queue is written less often, for 5 % of the time. */
  #planWrite(): void {
    if (this.#isWritePlanned || this.#isClosed || this.#deps.path === undefined) return;
    this.#isWritePlanned = true;
    const write = () => {
      this.#isWritePlanned = false;
      if (this.#isClosed) return;
      const kept = this.#kept();
      const count = [...kept.values()].reduce((sum, { outages }) => sum + outages.length, 0);
      this.#pauseMs = count * PAUSE_MS_EACH;
      this.#writing = this.#write(kept);
    };
    const later = () =>
      this.#pauseMs < LONG_PAUSE_MS ? deferToNextTurn(write) : setTimeout(write, this.#pauseMs).unref();
    void this.#writing.then(later);
  }

  #kept(): ReadonlyMap<string, Kept> {
    return new Map([...this.#targets].map(([name, { delivery }]) => [name, delivery.kept]));
  }

  async #write(kept: ReadonlyMap<string, Kept>): Promise<void> {
    const { path } = this.#deps;
    if (path === undefined) return;
    const failure = await writeKept(path, keptParts(kept));
    this.#note(failure);
    if (failure === undefined) return;
    this.#pauseMs = RETRY_MS;
    this.#planWrite();
  }

  /** One line when the file begins to fail. */
  #note(failure: string | undefined): void {
    if (failure !== undefined && !this.#isFailing)
      this.#deps.log.warn(`${this.#deps.path}: ${failure}; messages that wait do not survive a restart`);
    this.#isFailing = failure !== undefined;
  }
}
