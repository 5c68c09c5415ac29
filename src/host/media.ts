/** The media players of the machine as the platform reports them, and the commands they accept. */

export type Playback = 'playing' | 'paused' | 'stopped';

/** The commands of a player. */
export const MEDIA_VERBS = [
  'play',
  'pause',
  'play_pause',
  'stop',
  'next',
  'previous',
  'seek',
  'set_volume',
] as const;
export type MediaVerb = (typeof MEDIA_VERBS)[number];

/** The commands that have a media key. */
export const MEDIA_KEYS = ['play', 'pause', 'play_pause', 'stop', 'next', 'previous'] as const;
export type MediaKey = (typeof MEDIA_KEYS)[number];

/** One player as it last reported itself. null: not reported. */
export interface MediaPlayer {
  /** The id for `control`; never reused for another program. */
  readonly id: string;
  /** At least one. The first one is shown. */
  readonly names: readonly string[];
  /** It has not answered a request for its state for too long to be waited for. */
  readonly isSilent: boolean;
  readonly playback: Playback;
  /** Empty if it has none. */
  readonly title: string;
  readonly artists: readonly string[];
  readonly album: string | null;
  /** Complete: null if it is longer than 16 KiB. */
  readonly artUrl: string | null;
  /** The address is longer, and a data: URI: `askArtUrl` returns it. */
  readonly isArtLong: boolean;
  /** Address of the track itself, whole. */
  readonly url: string | null;
  readonly durationSeconds: number | null;
  /** At the moment of the snapshot. */
  readonly positionSeconds: number | null;
  /** 1 is the usual speed. */
  readonly rate: number | null;
  readonly shuffle: boolean | null;
  readonly repeat: 'none' | 'track' | 'playlist' | null;
  /** 1 is full; some players go beyond. */
  readonly volume: number | null;
  /** Monotonic milliseconds: when it started or stopped playing. null: it was never seen playing. */
  readonly lastPlayedMs: number | null;
  /** The commands that it reports as currently unavailable. */
  readonly cannot: readonly MediaVerb[];
}

export interface MediaSnapshot {
  /** Why players cannot be observed, as a sentence without a full stop; null when they can. */
  readonly absence: string | null;
  /** All initial requests have been answered. */
  readonly isSettled: boolean;
  readonly players: readonly MediaPlayer[];
  /** Number of players beyond the limit, which are not listed. */
  readonly leftOut: number;
}

/** The result of a command. `reason` is a sentence without a full stop. */
export type MediaReply =
  | { readonly outcome: 'done' }
  /** `failed`: the player refused. `gone`: the player, or the connection to it, no longer exists. */
  | { readonly outcome: 'failed' | 'gone'; readonly reason: string }
  /** The request cannot be withdrawn: the player may still carry it out later. */
  | { readonly outcome: 'unanswered'; readonly reason: string };

export interface MediaHost {
  /** Starts watching the players; a second call does nothing. */
  watch(): void;
  /** Returns the last known state without waiting. */
  readPlayers(): MediaSnapshot;
  /**
   * Sends a command to the player `id`. `value`: seconds from the start of the track (`seek`), or the volume with 1 for
   * full (`set_volume`). Settles within `limitMs`; never rejects.
   */
  control(id: string, verb: MediaVerb, value: number | undefined, limitMs: number): Promise<MediaReply>;
  /**
   * Reads the file `path` with the rights of the user of the player `id`, which has named it. Rejects with an Error
   * that gives the reason, also for a file of more than `maxBytes`. May take forever, and holds a thread until it
   * settles.
   */
  readArt(id: string, path: string, maxBytes: number): Promise<Buffer>;
  /**
   * Asks the player `id` for the address of its picture. Resolves within `limitMs`: with null if it has more than
   * `maxBytes`, and if the player does not answer. Never rejects.
   */
  askArtUrl(id: string, maxBytes: number, limitMs: number): Promise<string | null>;
  /** Calls `listener` after the players have changed, at most every 50 ms. The next call replaces the listener. */
  onChange(listener: () => void): void;
  /** Returns why no media key can be pressed; null when one can. Presses none. */
  keyAbsence(): string | null;
  /** Presses and releases a media key for any program that reacts to it. Rejects with an Error that gives the reason. */
  pressKey(key: MediaKey): Promise<void>;
}
