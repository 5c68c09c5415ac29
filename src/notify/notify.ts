/** Notifications: a delivery for each target of the configuration, and the heartbeat. Loaded where either is configured. */
import { type Clock, deferToNextTurn } from '../clock.ts';
import type { LiveConfig } from '../config/current.ts';
import type { TargetEntry } from '../config/rows/notify-rows.ts';
import type { Log } from '../log/log.ts';
import { Delivery } from './delivery.ts';
import type { EventFeed } from './feed.ts';
import { Heartbeat } from './heartbeat.ts';
import { KeptFile } from './kept-file.ts';
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
  /** Returns the address of the dashboard, if other machines can open it. */
  readonly link: () => string | undefined;
  /** Rejects where the service cannot do its work. */
  readonly check: () => Promise<unknown>;
  /** For tests. */
  readonly unixMs?: () => number;
}

interface Target {
  /** The configuration that it was made from. */
  readonly made: string;
  readonly delivery: Delivery;
}

export class Notifications {
  readonly #deps: NotifyDeps;
  readonly #file: KeptFile;
  readonly #targets = new Map<string, Target>();
  readonly #unlisten: () => void;
  #heartbeat: Heartbeat | undefined;
  #heartbeatMade = '';
  #isWritePlanned = false;
  #isClosed = false;

  constructor(deps: NotifyDeps) {
    this.#deps = deps;
    this.#file = new KeptFile(deps.config.current.history.path, deps.log);
    this.#unlisten = deps.events.onEvent((event) => {
      for (const { delivery } of this.#targets.values()) delivery.take(event);
    });
    this.#configure(this.#file.read());
  }

  reconfigure(): void {
    this.#configure(new Map());
  }

  async close(): Promise<void> {
    this.#write();
    this.#isClosed = true;
    this.#unlisten();
    this.#heartbeat?.close();
    for (const { delivery } of this.#targets.values()) delivery.close();
  }

  /** A target whose configuration has changed begins anew, with what was on its way. */
  #configure(kept: ReadonlyMap<string, Kept>): void {
    const { notify } = this.#deps.config.current;
    const { targets, heartbeat, ...limits } = notify;
    for (const [name, { delivery }] of this.#targets)
      if (!Object.hasOwn(targets, name)) {
        delivery.close();
        this.#targets.delete(name);
      }
    for (const [name, entry] of Object.entries(targets)) {
      const made = JSON.stringify([entry, limits]);
      const before = this.#targets.get(name);
      if (before?.made === made) continue;
      before?.delivery.close();
      const state = before?.delivery.kept ?? kept.get(name) ?? NOTHING_KEPT;
      this.#targets.set(name, { made, delivery: this.#open(name, entry, state) });
    }
    this.#planWrite();
    const made = JSON.stringify(heartbeat);
    if (made === this.#heartbeatMade) return;
    this.#heartbeatMade = made;
    this.#heartbeat?.close();
    const { url, interval_seconds } = heartbeat;
    this.#heartbeat =
      url === undefined
        ? undefined
        : new Heartbeat({ ...this.#deps, url, intervalMs: interval_seconds * 1000 });
  }

  #open(name: string, entry: TargetEntry, kept: Kept): Delivery {
    const { config, events, link, unixMs = Date.now } = this.#deps;
    const target = { name, entry, link, unixMs };
    const options = {
      ...this.#deps,
      ...target,
      limits: config.current.notify,
      attempt: (message: Message, signal: AbortSignal) => attempt(message, target, signal),
      onChange: () => this.#planWrite(),
    };
    return new Delivery(options, kept, events.open);
  }

  /** Once for all changes of a turn. */
  #planWrite(): void {
    if (this.#isWritePlanned || this.#isClosed) return;
    this.#isWritePlanned = true;
    deferToNextTurn(() => {
      this.#isWritePlanned = false;
      if (!this.#isClosed) this.#write();
    });
  }

  #write(): void {
    this.#file.write(new Map([...this.#targets].map(([name, { delivery }]) => [name, delivery.kept])));
  }
}
