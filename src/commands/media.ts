/** The media commands: which player takes them, how each is answered, and their rows in the table of commands. */
import type { Clock } from '../clock.ts';
import type { CurrentConfig } from '../config/current.ts';
import { ServiceError } from '../errors.ts';
import type { MediaHost, MediaPlayer, MediaSnapshot, MediaVerb, Playback } from '../host/media.ts';
import { Listeners } from '../listeners.ts';
import type { Log } from '../log/log.ts';
import { checkParams, type Params } from '../params.ts';
import type { Capability } from '../wire/capability.ts';
import type { MediaPayload } from '../wire/media.ts';
import { MEDIA_ACTIONS, type MediaAction, mediaParams, mediaValueParams } from '../wire/requests.ts';
import type { Command, Outcome } from './command.ts';
import { MediaArt, type Picture } from './media-art.ts';
import { pressKey, type Result, refused } from './media-result.ts';
import {
  currentOf,
  deriveMediaStatus,
  findPlayer,
  nameOf,
  selectPlayer,
  withPlainNames,
} from './media-status.ts';
import { isVolumeAction, MediaVolume } from './media-volume.ts';

export interface MediaOptions {
  /** undefined: media players are not supported on this platform. */
  readonly host: MediaHost | undefined;
  readonly clock: Clock;
  readonly config: CurrentConfig;
  readonly log: Log;
}

/** The contract's four actions: the reply is ok whenever the request is valid. */
const ALWAYS_OK: ReadonlySet<MediaAction> = new Set(['play', 'pause', 'next', 'prev']);

const VERBS: Readonly<Record<MediaAction, MediaVerb>> = {
  play: 'play',
  pause: 'pause',
  next: 'next',
  prev: 'previous',
  play_pause: 'play_pause',
  stop: 'stop',
  previous: 'previous',
  seek: 'seek',
  set_volume: 'set_volume',
  volume_up: 'set_volume',
  volume_down: 'set_volume',
  mute: 'set_volume',
  unmute: 'set_volume',
  toggle_mute: 'set_volume',
};

/** Wait for the first answers of all players, at the first status request. */
const STATUS_SETTLE_MS = 1100;
/** The same for a command, which leaves most of its time to the player that takes it. */
const CONTROL_SETTLE_MS = 400;
/** Wait for the player's reply. Together with CONTROL_SETTLE_MS less than the 1.5 s that a request may take. */
const ANSWER_MS = 1000;
/** Time in which players report what a command has changed. */
const EFFECT_MS = 500;

/** The smallest change, as a fraction of the full volume; players round. */
const LEAST_CHANGE = 0.005;

const OK = { status: 'ok' } as const;

export class Media {
  readonly #options: MediaOptions;
  #isWatching = false;
  readonly #changes = new Listeners();
  readonly #volume: MediaVolume;
  readonly #art: MediaArt | undefined;
  /** The last command that a player was sent. */
  #sent: { readonly id: string; readonly atMs: number } | undefined;

  constructor(options: MediaOptions) {
    this.#options = options;
    const { host, clock, log } = options;
    this.#volume = new MediaVolume(clock);
    this.#art = host === undefined ? undefined : new MediaArt({ host, clock, log });
  }

  /**
   * Calls `listener` when the players have changed. They are watched from the first request for them on. Returns a function
   * that removes it.
   */
  onChange(listener: () => void): () => void {
    return this.#changes.add(listener);
  }

  /** The status of the player `name`, or of the selected one. Rejects with `player_not_found`. */
  async status(name: string | undefined, withDetail: boolean): Promise<MediaPayload> {
    const { host } = this.#options;
    if (host === undefined) return deriveMediaStatus(NOTHING, choose(NOTHING, name), withDetail);
    const snapshot = await this.#settled(host, STATUS_SETTLE_MS);
    return deriveMediaStatus(snapshot, choose(snapshot, name), withDetail);
  }

  /** The state of the selected player. */
  async playback(): Promise<Playback> {
    const { host } = this.#options;
    const snapshot = host === undefined ? NOTHING : await this.#settled(host, STATUS_SETTLE_MS);
    return selectPlayer(snapshot)?.playback ?? 'stopped';
  }

  /** The same without asking for players: undefined while no client has asked for them. */
  peekPlayback(): Playback | undefined {
    const { host } = this.#options;
    if (host === undefined || !this.#isWatching) return undefined;
    return selectPlayer(host.readPlayers())?.playback ?? 'stopped';
  }

  /** The picture of the current track, if it is a file of this machine; see MediaArt. Rejects with `player_not_found`. */
  async art(name: string | undefined): Promise<Picture | undefined> {
    const { host } = this.#options;
    const snapshot = host === undefined ? NOTHING : await this.#settled(host, STATUS_SETTLE_MS);
    const player = currentOf(choose(snapshot, name));
    return player === undefined ? undefined : await this.#art?.read(player);
  }

  async capability(): Promise<Capability> {
    const { host, config } = this.#options;
    const enabled = config.current.features.enable_media;
    const refuse = (reason: string) => ({ enabled, supported: false, reason });
    if (!enabled) return refuse('media control is disabled (features.enable_media)');
    if (host === undefined) return refuse(NO_HOST);
    const { absence } = await this.#settled(host, CONTROL_SETTLE_MS);
    if (absence !== null && host.keyAbsence() !== null) return refuse(absence);
    return { enabled: true, supported: true, reason: null };
  }

  /**
   * Carries `action` out. The contract's four resolve however they go; the others reject with ServiceError:
   * `not_supported`, `not_possible_now`, `action_failed`, unless the player has accepted the command. All reject with `player_not_found` for an unknown player.
   */
  async command(action: MediaAction, params: MediaParams): Promise<Outcome> {
    const { delivered, error, isAccepted = ALWAYS_OK.has(action) } = await this.#carryOut(action, params);
    if (error === undefined) return { result: OK, delivered };
    if (!isAccepted) throw error;
    this.#options.log.info(`media: ${action} failed: ${String(error.details?.['reason'])}`);
    return { result: OK, delivered, failure: error };
  }

  async #carryOut(action: MediaAction, { player: name, value }: MediaParams): Promise<Result> {
    const { host } = this.#options;
    const verb = VERBS[action];
    if (host === undefined) {
      choose(NOTHING, name);
      return refused('not_supported', action, NO_HOST);
    }
    const snapshot = await this.#settled(host, CONTROL_SETTLE_MS);
    const player = choose(snapshot, name);
    if (player !== undefined) return this.#send(host, snapshot, player, action, value);
    if (snapshot.absence === null) return refused('not_possible_now', action, 'no player found');
    return pressKey(host, verb, action, snapshot.absence);
  }

  async #send(
    host: MediaHost,
    { players }: MediaSnapshot,
    player: MediaPlayer,
    action: MediaAction,
    value: number | undefined,
  ): Promise<Result> {
    const verb = VERBS[action];
    const name = nameOf(player);
    // Audacious would begin the track anew.
    if (action === 'play' && this.#isPlaying(player)) return { delivered: 'true' };
    if (player.cannot.includes(verb))
      return refused('not_possible_now', action, `${name} reports that it cannot do this now`);
    const wanted = isVolumeAction(action)
      ? this.#volume.request(player, players, action, value)
      : positionIn(player, action, value);
    if (typeof wanted === 'string') return refused('not_possible_now', action, wanted);
    this.#sent = { id: player.id, atMs: this.#options.clock.now() };
    const answer = host.control(player.id, verb, wanted, ANSWER_MS);
    const isMoved =
      verb !== 'set_volume' || wanted === undefined || this.#moves(host, player, wanted, answer);
    const reply = await answer;
    switch (reply.outcome) {
      case 'done':
        if (await isMoved) return { delivered: 'true' };
        return { ...refused('action_failed', action, `${name} did not change its volume`), isAccepted: true };
      case 'unanswered':
        return { ...refused('action_failed', action, `${name}: ${reply.reason}`), delivered: 'unknown' };
      case 'gone':
        return refused('not_possible_now', action, `${name}: ${reply.reason}`);
      case 'failed':
        return refused('action_failed', action, `${name}: ${reply.reason}`);
    }
  }

  /** Not for the first moment after a command, which may have paused it. */
  #isPlaying({ id, playback }: MediaPlayer): boolean {
    const isReported = this.#sent?.id !== id || this.#options.clock.now() - this.#sent.atMs >= EFFECT_MS;
    return playback === 'playing' && isReported;
  }

  /**
   * Whether the volume of `player` moves towards `wanted`, from now on and until half a second after its answer: browsers
   * and others accept any volume and keep the one that they have. true where that cannot be seen.
   */
  async #moves(
    host: MediaHost,
    { id, volume: before }: MediaPlayer,
    wanted: number,
    answer: Promise<unknown>,
  ): Promise<boolean> {
    if (before === null || Math.abs(wanted - before) < LEAST_CHANGE) return true;
    const { clock } = this.#options;
    const hasMoved = ({ players }: MediaSnapshot) =>
      players.find((player) => player.id === id)?.volume !== before;
    const begunMs = clock.now();
    const first = this.#until(host, hasMoved, EFFECT_MS);
    await answer;
    const moreMs = Math.min(clock.now() - begunMs, ANSWER_MS - EFFECT_MS);
    return (await first) || (await this.#until(host, hasMoved, moreMs));
  }

  /** The players, once each has answered; watches them from the first call on. Waits at most `limitMs`. */
  async #settled(host: MediaHost, limitMs: number): Promise<MediaSnapshot> {
    if (!this.#isWatching) {
      this.#isWatching = true;
      host.onChange(() => this.#changes.notify());
      host.watch();
    }
    await this.#until(host, ({ isSettled }) => isSettled, limitMs);
    return withPlainNames(host.readPlayers());
  }

  /** Waits until `isSo` is true of the players. Resolves with whether it was, after `limitMs` at the latest. */
  async #until(
    host: MediaHost,
    isSo: (snapshot: MediaSnapshot) => boolean,
    limitMs: number,
  ): Promise<boolean> {
    if (isSo(host.readPlayers())) return true;
    const { clock } = this.#options;
    return await new Promise<boolean>((resolve) => {
      const finish = (isTrue: boolean) => {
        clock.clearTimer(timer);
        remove();
        resolve(isTrue);
      };
      const timer = clock.setTimer(() => finish(false), limitMs);
      const remove = this.#changes.add(() => {
        if (isSo(host.readPlayers())) finish(true);
      });
    });
  }
}

const NOTHING = { absence: null, isSettled: true, players: [], leftOut: 0 };
const NO_HOST = 'media players are not supported on this platform';

/** Returns the value that goes with the verb, or the reason why not. */
function positionIn(
  { durationSeconds }: MediaPlayer,
  action: MediaAction,
  value: number | undefined,
): number | undefined | string {
  if (action === 'seek' && durationSeconds !== null && value !== undefined && value > durationSeconds)
    return `the track ends after ${Math.floor(durationSeconds)} s`;
  return value;
}

/** Throws `player_not_found`. */
function choose(snapshot: MediaSnapshot, name: string | undefined) {
  if (name === undefined) return selectPlayer(snapshot);
  const player = findPlayer(snapshot, name);
  if (player === undefined) throw new ServiceError('player_not_found', 'No player of this name.');
  return player;
}

interface MediaParams {
  /** The player's name; undefined: the selected player. */
  readonly player?: string | undefined;
  /** `seek`: seconds from the beginning of the track. `set_volume`: 0–100. */
  readonly value?: number;
}

/** Throws `missing_field`, `invalid_value`. */
const checkMediaParams = (action: MediaAction, params: Params): MediaParams =>
  action === 'seek' || action === 'set_volume'
    ? checkParams(mediaValueParams[action], params)
    : checkParams(mediaParams, params);

/** `media.play` … `media.toggle_mute`. */
export function mediaCommands(media: Media): readonly Command[] {
  return MEDIA_ACTIONS.map((action) => ({
    name: `media.${action}`,
    prepare(params) {
      const checked = checkMediaParams(action, params);
      return () => media.command(action, checked);
    },
  }));
}
