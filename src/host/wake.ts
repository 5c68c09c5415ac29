/** Wake-on-LAN as the addon reports it (native/host/wake.h). */

/** An IPv4 address of an interface that is up, has a link and can broadcast. */
export interface BroadcastAddress {
  /** Name of the interface. */
  readonly name: string;
  readonly address: string;
  /** null in a network of one or two addresses, which has none. */
  readonly broadcast: string | null;
}

/** Wake-on-LAN of a network card. */
export interface WakeOnLan {
  readonly name: string;
  /** Whether any of the events that the card waits for wakes the machine. */
  readonly isEnabled: boolean | null;
  /** The card's own answer: the events that it supports, and those that it waits for. */
  readonly supported: readonly string[] | null;
  readonly armed: readonly string[] | null;
  /** Why the card did not answer. */
  readonly failure: string | null;
}

/** Both are read off the main thread. */
export interface WakeHost {
  /** Returns where a packet for all machines of each network is sent. */
  readBroadcastAddresses(): Promise<readonly BroadcastAddress[]>;
  /** Returns the network cards. Rejects with the code ENOTSUP if the platform does not report it. */
  readWakeOnLan(): Promise<readonly WakeOnLan[]>;
}
