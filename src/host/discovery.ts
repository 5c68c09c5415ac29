/** Announcements by DNS-SD over multicast DNS, through the responder that the system runs: Avahi. */

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

export interface DiscoveryHost {
  /**
   * Replaces the announcements, for as long as this process runs, also when the responder is restarted. Resolves when
   * the previous ones have been withdrawn; never rejects.
   */
  announce(list: readonly Announcement[]): Promise<void>;
  /** Calls `listener` with the whole list, in the order of the announcements, whenever one changes. */
  onNews(listener: (announced: readonly Announced[]) => void): void;
}
