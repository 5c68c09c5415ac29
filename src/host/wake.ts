/** Wake-on-LAN as the addon reports it (native/host/wake.h). */

/** An IPv4 address of an interface that is up, has a link and can broadcast. */
export interface BroadcastAddress {
  /** The interface's. */
  readonly name: string;
  readonly address: string;
  /** null in a network of one or two addresses, which has none. */
  readonly broadcast: string | null;
}

/** What a network card has of Wake-on-LAN. */
export interface WakeOnLan {
  readonly name: string;
  /** Whether anything that the card waits for wakes the machine. */
  readonly isEnabled: boolean | null;
  /** The card's own answer: the events that it can wait for, and those that it waits for. */
  readonly supported: readonly string[] | null;
  readonly armed: readonly string[] | null;
  /** Why there is no answer of the card. */
  readonly failure: string | null;
}

/** Both are read off the main thread. */
export interface WakeHost {
  /** Where a packet for all machines of each network goes. */
  readBroadcastAddresses(): Promise<readonly BroadcastAddress[]>;
  /** The network cards. Rejects with the code ENOTSUP where the platform does not report it. */
  readWakeOnLan(): Promise<readonly WakeOnLan[]>;
}
