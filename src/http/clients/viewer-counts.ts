/** Counts open streams and sockets: by address, where they were opened without a key, and by key. */

import type { Caller } from '../../access/caller.ts';
import type { KeyUses } from '../../access/key-uses.ts';
import { AddressCounts } from '../../fairness/address-counts.ts';

export class ViewerCounts {
  /** By address, of those without a key. */
  readonly keyless = new AddressCounts();
  readonly #uses: Pick<KeyUses, 'opened' | 'closed'> | undefined;

  constructor(uses?: Pick<KeyUses, 'opened' | 'closed'>) {
    this.#uses = uses;
  }

  opened({ address, isKeyed, key }: Caller): void {
    if (!isKeyed) this.keyless.add(address);
    this.#uses?.opened(key);
  }

  closed({ address, isKeyed, key }: Caller): void {
    if (!isKeyed) this.keyless.remove(address);
    this.#uses?.closed(key, address);
  }
}

/** Notified of each stream or socket that opens or closes. */
export type Counting = Pick<ViewerCounts, 'opened' | 'closed'>;
