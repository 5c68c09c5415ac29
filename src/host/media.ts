/** The players of the machine as the platform knows them: what they play, and how they are spoken to. */

export type Playback = 'playing' | 'paused' | 'stopped';

/** What a player can be asked to do. */
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

/** Those there is a media key for. */
export const MEDIA_KEYS = ['play', 'pause', 'play_pause', 'stop', 'next', 'previous'] as const;
export type MediaKey = (typeof MEDIA_KEYS)[number];

/** One player as it last told of itself. null: it did not say. */
export interface MediaPlayer {
  /** What `control` takes; another program never has the same one. */
  readonly id: string;
  /** At least one. The first is the one that is shown. */
  readonly names: readonly string[];
  /** It has been asked of its state for so long without an answer that nobody should wait for it. */
  readonly isSilent: boolean;
  readonly playback: Playback;
  /** Empty where it has none. */
  readonly title: string;
  readonly artists: readonly string[];
  readonly album: string | null;
  readonly artUrl: string | null;
  readonly durationSeconds: number | null;
  /** At the moment of the snapshot. */
  readonly positionSeconds: number | null;
  /** 1 is the usual speed. */
  readonly rate: number | null;
  readonly shuffle: boolean | null;
  readonly repeat: 'none' | 'track' | 'playlist' | null;
  /** 1 is full; some players go beyond. */
  readonly volume: number | null;
  /** Monotonic milliseconds: since when it plays, or when it stopped playing. null: not seen to play. */
  readonly lastPlayedMs: number | null;
  /** What it says that it can't do now. */
  readonly cannot: readonly MediaVerb[];
}

export interface MediaSnapshot {
  /** Why no player can be heard of, as a sentence without a full stop; null when they can. */
  readonly absence: string | null;
  /** Nothing that was asked at the beginning is still to be answered. */
  readonly isSettled: boolean;
  readonly players: readonly MediaPlayer[];
  /** How many more there are than anybody wants to keep. */
  readonly leftOut: number;
}

/** What became of an act. `reason` is a sentence without a full stop. */
export type MediaReply =
  | { readonly outcome: 'done' }
  /** `failed`: the player refused. `gone`: it, or the way to it, is no longer there. */
  | { readonly outcome: 'failed' | 'gone'; readonly reason: string }
  /** It may still do it when it wakes: what was sent can't be taken back. */
  | { readonly outcome: 'unanswered'; readonly reason: string };

export interface MediaHost {
  /** Begins to watch the players; a second call does nothing. */
  watch(): void;
  /** From memory: never waits. */
  readPlayers(): MediaSnapshot;
  /**
   * Asks the player `id`. `value`: seconds from the beginning of the track (`seek`), or 1 for full (`set_volume`).
   * Settles after `limitMs` at the latest; never rejects.
   */
  control(id: string, verb: MediaVerb, value: number | undefined, limitMs: number): Promise<MediaReply>;
  /** Calls `listener` after the players have changed, at most every 50 ms. The next call replaces the listener. */
  onChange(listener: () => void): void;
  /** Why no media key can be pressed; null when one can. Presses none. */
  keyAbsence(): string | null;
  /** Presses and releases a media key, for whatever hears it. Rejects with an Error that says why not. */
  pressKey(key: MediaKey): Promise<void>;
}
