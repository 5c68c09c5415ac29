/** What GET /api/media/status answers, and what a media command answers with. */

/** The contract's three keys. */
export interface MediaStatus {
  /** active: playing or paused, with a title or an artist. idle: a player without either, or one that has stopped. */
  readonly status: 'active' | 'idle' | 'stopped';
  /** Empty unless active. */
  readonly title: string;
  /** Several are joined with ", ". */
  readonly artist: string;
}

/** What `detail=1` adds. null: the player did not say. */
export interface MediaDetail extends MediaStatus {
  readonly playback: 'playing' | 'paused' | 'stopped';
  readonly album: string | null;
  /** Seconds. */
  readonly position: number | null;
  readonly duration: number | null;
  /** 1 is the usual speed. */
  readonly rate: number | null;
  readonly shuffle: boolean | null;
  readonly repeat: 'none' | 'track' | 'playlist' | null;
  /** 0–100; some players go beyond. */
  readonly volume: number | null;
  /** The player that this is told of, and that commands without `player` go to. */
  readonly player: string | null;
  /** The names that `player` may have in a request. */
  readonly players: readonly string[];
  readonly art_url: string | null;
}

export type MediaPayload = MediaStatus | MediaDetail;

/** Whether media can be asked of and commanded, as /api/system shows it. */
export interface MediaCapability {
  readonly enabled: boolean;
  readonly supported: boolean;
  readonly reason: string | null;
}
