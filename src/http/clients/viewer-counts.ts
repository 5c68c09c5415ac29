/** Counts open streams and sockets: by address, where they were opened without a key, and by key. */
import type { Caller } from '../../access/caller.ts';
import type { KeyUses } from '../../access/key-uses.ts';
import { limitsPerAddress, type PlaceLimits, Places } from '../../fairness/places.ts';

export class ViewerCounts {
  readonly places: Places;
  readonly #uses: Pick<KeyUses, 'opened' | 'closed'> | undefined;

  /** `limits`: of the places; by default none. */
  constructor(uses?: Pick<KeyUses, 'opened' | 'closed'>, limits?: () => PlaceLimits) {
    this.#uses = uses;
    this.places = new Places(limits ?? (() => limitsPerAddress(Number.POSITIVE_INFINITY, 0)));
  }

  opened(caller: Caller): void {
    this.places.add(caller);
    this.#uses?.opened(caller.key);
  }

  closed(caller: Caller): void {
    this.places.remove(caller);
    this.#uses?.closed(caller.key, caller.address);
  }
}

/** Notified of each stream or socket that opens or closes. */
export type Counting = Pick<ViewerCounts, 'opened' | 'closed'>;
