/** DNS-SD over multicast DNS, through the responder that the system runs: Avahi, or Windows itself. */

/** A service of the type `_hostwire._tcp`. */
export interface Announcement {
  /** Its name on the network, at most 63 bytes of UTF-8. */
  readonly name: string;
  readonly port: number;
  /** The only interface to announce it on; empty: all. */
  readonly link: string;
  /** `key=value`, at most 255 bytes each. */
  readonly texts: readonly string[];
}

/** State of an announcement. */
export interface Announced {
  /** A different one if the wanted name was taken. */
  readonly name: string;
  readonly isAnnounced: boolean;
  /** Why it is not announced; null while that is undecided. */
  readonly reason: string | null;
}

/** An announcement of another host, with any text. */
export interface FoundService {
  readonly name: string;
  readonly host: string;
  readonly address: string;
  /** The interface it was found on; empty if unknown. */
  readonly link: string;
  readonly port: number;
  readonly texts: readonly string[];
}

export interface DiscoveryHost {
  /**
   * Replaces the announcements, for as long as this process runs, also when the responder is restarted. Resolves when
   * the previous ones have been withdrawn; never rejects.
   */
  announce(list: readonly Announcement[]): Promise<void>;
  /** Calls `listener` with the whole list, in the order of the announcements, whenever one changes. */
  onNews(listener: (announced: readonly Announced[]) => void): void;
  /**
   * Returns the services that answer within that time, once per address. Rejects with the reason without a responder.
   */
  browse(milliseconds: number): Promise<readonly FoundService[]>;
}
