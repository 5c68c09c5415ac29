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

/** What has become of an announcement. */
export interface Announced {
  /** Another one where the name was taken. */
  readonly name: string;
  readonly isAnnounced: boolean;
  /** Why it is not; null while that is being settled. */
  readonly reason: string | null;
}

/** What another host says: any text at all. */
export interface FoundService {
  readonly name: string;
  readonly host: string;
  readonly address: string;
  /** The interface it was found on; empty where that is not known. */
  readonly link: string;
  readonly port: number;
  readonly texts: readonly string[];
}

export interface DiscoveryHost {
  /**
   * Replaces what is announced, for as long as this process runs, also when the responder is restarted. Resolves when
   * the former announcements have been withdrawn; never rejects.
   */
  announce(list: readonly Announcement[]): Promise<void>;
  /** Called with the whole list, in the order of the announcements, whenever something in it changes. */
  onNews(listener: (announced: readonly Announced[]) => void): void;
  /** What answers within that time, once for each of its addresses. Rejects with the reason where none can be asked. */
  browse(milliseconds: number): Promise<readonly FoundService[]>;
}
