/** An attack: one way in which a web page can misuse its visitor's browser. */
import type { Resources } from './attacker.ts';

/** The target of an attack. */
export type Target = 'power' | 'media' | 'process' | 'stats';

/** The origin of an attack's page. */
export type Place =
  | 'foreign'
  /** The service's own host, another port: the same site, another origin. */
  | 'neighbour'
  /** A name of the attacker's that browsers trust. */
  | 'trusted'
  /** A listed origin with more behind it, with more before it, and on another port. */
  | 'listed-and-more'
  | 'more-and-listed'
  | 'listed-elsewhere'
  /** A name that leads to the attacker first and to the service then. */
  | 'rebound'
  | 'rebound-dot'
  | 'rebound-lookalike'
  /** An origin of the owner's, which the configuration lists: no attacker. */
  | 'listed';

/** The target of an attempt. */
export interface Aim {
  readonly target: Target;
  /** `http://host:port` as the page is to name it. */
  readonly service: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** JSON; the power routes take none. */
  readonly body: string | undefined;
  /** The same as a message of the WebSocket API. */
  readonly message: string;
}

export interface Surroundings {
  /** Folder of this attempt on the site that its page comes from. */
  readonly base: string;
  /** Where loot goes. */
  readonly loot: string;
  /** `http://host:port` of the attacker's second site. */
  readonly accomplice: string;
}

export interface Row {
  readonly id: string;
  /** For the page: a sentence part. */
  readonly method: string;
  readonly from: Place;
  /** 'act': change something. 'read': get bytes. 'frame': have the dashboard at work inside the attacker's page. */
  readonly does: 'act' | 'read' | 'frame';
  readonly targets: readonly Target[];
  /** In place of the target's path. */
  readonly path?: string;
  /** Text that proves that bytes were read, in place of the target's. */
  readonly secret?: string;
  readonly stage: (aim: Aim, around: Surroundings) => Resources;
  /** The page has something with the id `go` that its visitor clicks. */
  readonly isClicked?: boolean;
  /** Browsers do this to loopback's addresses and over TLS only. */
  readonly needsTrust?: boolean;
  /** The engines that have what it uses; all without it. */
  readonly only?: 'chromium' | 'firefox';
}
