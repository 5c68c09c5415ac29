/** Computes the volume that an action sets: steps, and muting by a volume of 0, as players have no other. */
import type { Clock } from '../clock.ts';
import type { MediaPlayer } from '../host/media.ts';
import type { MediaAction } from '../wire/requests.ts';
import { nameOf } from './media-status.ts';

const VOLUME_STEP = 0.05;
/** Players report a new volume a little later: until then the volume that was requested is the present one. */
const VOLUME_REPORTED_MS = 1000;

type VolumeAction = 'set_volume' | 'volume_up' | 'volume_down' | 'mute' | 'unmute' | 'toggle_mute';

export const isVolumeAction = (action: MediaAction): action is VolumeAction => action in NEXT;

/** Returns the new volume, from 1 for full, or the reason why it is unknown. */
type Next = (now: number, before: number | undefined) => number | string;

const muted: Next = () => 0;
const unmuted: Next = (now, before) => (now > 0 ? now : (before ?? 'the volume before muting is unknown'));

const NEXT: Readonly<Record<Exclude<VolumeAction, 'set_volume'>, Next>> & { readonly set_volume: undefined } =
  {
    set_volume: undefined,
    // `volume_up` must not turn down a player that is above 100 % already.
    volume_up: (now) => Math.min(now + VOLUME_STEP, Math.max(1, now)),
    volume_down: (now) => Math.max(now - VOLUME_STEP, 0),
    mute: muted,
    unmute: unmuted,
    toggle_mute: (now, before) => (now > 0 ? muted : unmuted)(now, before),
  };

export class MediaVolume {
  readonly #clock: Clock;
  #requested: { readonly id: string; readonly volume: number; readonly atMs: number } | undefined;
  /** By the id of the player: its last volume above 0 before a request for 0. */
  readonly #beforeMuting = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the volume to request from `player`, one of `all`, or the reason why not. `value`: in percent. */
  request(
    player: MediaPlayer,
    all: readonly MediaPlayer[],
    action: VolumeAction,
    value: number | undefined,
  ): number | string {
    const now = this.#present(player);
    const next = NEXT[action];
    if (next !== undefined && now === null) return `${nameOf(player)} does not report its volume`;
    const volume =
      next === undefined ? (value ?? 0) / 100 : next(now ?? 0, this.#beforeMuting.get(player.id));
    if (typeof volume === 'string') return volume;
    if (volume === 0 && now !== null && now > 0) this.#remember(player.id, now, all);
    this.#requested = { id: player.id, volume, atMs: this.#clock.now() };
    return volume;
  }

  #present({ id, volume }: MediaPlayer): number | null {
    const requested = this.#requested;
    if (requested?.id !== id || this.#clock.now() - requested.atMs >= VOLUME_REPORTED_MS) return volume;
    return requested.volume;
  }

  /** Only of players that are still there. */
  #remember(id: string, volume: number, all: readonly MediaPlayer[]): void {
    const present = new Set(all.map((player) => player.id));
    for (const known of this.#beforeMuting.keys()) if (!present.has(known)) this.#beforeMuting.delete(known);
    this.#beforeMuting.set(id, volume);
  }
}
