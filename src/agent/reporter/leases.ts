/** The interest of hubs. A lease ends 10 s after its last renewal has arrived: no clock of another machine matters. */
import { type HubInterest, hasAll, type Interest, isNothing, unite } from './interest.ts';

export const LEASE_MS = 10_000;
export const MAX_LEASES = 16;
const TOPICS = ['media', 'power', 'events'] as const;
const NOTHING: Interest = { plain: 0, detailed: undefined };

interface Lease {
  readonly leased: HubInterest;
  readonly endsAtMs: number;
  /** When its next sample is due. */
  readonly dueAtMs: number;
}

/** The effect of a message: `wider` adds to the earlier interest of its hub. */
export type Taken = 'wider' | 'renewed' | 'full';

export class Leases {
  readonly #now: () => number;
  readonly #living = new Map<string, Lease>();

  /** `now`: monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** All that is wanted. */
  get interest(): Interest {
    let interest = NOTHING;
    for (const { leased } of this.#living.values()) interest = unite(interest, leased);
    return interest;
  }

  /** Milliseconds until the next one ends; undefined without one. */
  get endsInMs(): number | undefined {
    const ends = [...this.#living.values()].map(({ endsAtMs }) => endsAtMs);
    return ends.length === 0 ? undefined : Math.max(0, Math.min(...ends) - this.#now());
  }

  wants(topic: (typeof TOPICS)[number]): boolean {
    return [...this.#living.values()].some(({ leased }) => leased[topic]);
  }

  /** Begins the lease of a hub, or renews it; one that wants nothing is the end of it. */
  take(leased: HubInterest): Taken {
    this.expire();
    if (isNothing(leased) && TOPICS.every((topic) => !leased[topic])) {
      this.#living.delete(leased.hub);
      return 'renewed';
    }
    const now = this.#now();
    const before = this.#living.get(leased.hub);
    if (before === undefined && this.#living.size >= MAX_LEASES) return 'full';
    const isNarrow =
      before !== undefined &&
      hasAll(before.leased, leased) &&
      TOPICS.every((topic) => before.leased[topic] || !leased[topic]);
    const dueAtMs = isNarrow ? Math.min(before.dueAtMs, now + leased.intervalMs) : now;
    this.#living.set(leased.hub, { leased, endsAtMs: now + LEASE_MS, dueAtMs });
    return isNarrow ? 'renewed' : 'wider';
  }

  /** Returns the parts due now or within `slackMs`, which count as sent then; undefined: none is due. */
  due(slackMs: number): Interest | undefined {
    const now = this.#now();
    let interest = NOTHING;
    for (const [hub, { leased, endsAtMs, dueAtMs }] of this.#living) {
      if (isNothing(leased) || dueAtMs - slackMs > now) continue;
      interest = unite(interest, leased);
      // On a grid, so that an interval that is not a multiple of the service's own is right on average.
      const next = dueAtMs + leased.intervalMs;
      const isLate = next <= now - leased.intervalMs;
      this.#living.set(hub, { leased, endsAtMs, dueAtMs: isLate ? now + leased.intervalMs : next });
    }
    return isNothing(interest) ? undefined : interest;
  }

  /** Drops those that have ended; whether there were any. */
  expire(): boolean {
    const now = this.#now();
    const before = this.#living.size;
    for (const [hub, { endsAtMs }] of this.#living) if (endsAtMs <= now) this.#living.delete(hub);
    return this.#living.size < before;
  }

  clear(): void {
    this.#living.clear();
  }
}
