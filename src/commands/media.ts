/** The media commands: which player takes them, how each is answered, and their rows in the table of commands. */
import type { Clock } from '../clock.ts';
import type { CurrentConfig } from '../config/current.ts';
import { ServiceError } from '../errors.ts';
import {
  MEDIA_KEYS,
  type MediaHost,
  type MediaPlayer,
  type MediaSnapshot,
  type MediaVerb,
  type Playback,
} from '../host/media.ts';
import { Listeners } from '../listeners.ts';
import type { Log } from '../log/log.ts';
import type { Capability } from '../wire/capability.ts';
import type { MediaPayload } from '../wire/media.ts';
import { MEDIA_ACTIONS, type MediaAction } from '../wire/requests.ts';
import { type Command, type Delivered, defineCommand, type Outcome } from './command.ts';
import { MediaArt, type Picture } from './media-art.ts';
import { checkMediaParams, type MediaParams } from './media-params.ts';
import { currentOf, deriveMediaStatus, findPlayer, nameOf, selectPlayer } from './media-status.ts';
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

const OK = { status: 'ok' } as const;

/** How a command went. `error`: for the actions that do not always reply ok. */
interface Result {
  readonly delivered: Delivered;
  readonly error?: ServiceError;
}

export class Media {
  readonly #options: MediaOptions;
  readonly #settling = new Set<() => void>();
  #isWatching = false;
  readonly #changes = new Listeners();
  readonly #volume: MediaVolume;
  readonly #art: MediaArt | undefined;

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

  /** The same without asking for players: undefined while nobody has. */
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
    if (!enabled) return refuse('features.enable_media is off, so no player is looked for');
    if (host === undefined) return refuse(NO_HOST);
    const { absence } = await this.#settled(host, CONTROL_SETTLE_MS);
    if (absence !== null && host.keyAbsence() !== null) return refuse(absence);
    return { enabled: true, supported: true, reason: null };
  }

  /**
   * Carries `action` out. The contract's four resolve however they go; the others reject with ServiceError:
   * `not_supported`, `not_possible_now`, `action_failed`. All reject with `player_not_found` for an unknown player.
   */
  async command(action: MediaAction, params: MediaParams): Promise<Outcome> {
    const { delivered, error } = await this.#carryOut(action, params);
    if (error === undefined) return { result: OK, delivered };
    if (!ALWAYS_OK.has(action)) throw error;
    this.#options.log.info(`media: ${action} was not done: ${String(error.details?.['reason'])}`);
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
    if (snapshot.absence === null) return refused('not_possible_now', action, 'there is no player');
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
    if (player.cannot.includes(verb))
      return refused('not_possible_now', action, `${name} says that it cannot do that now`);
    const wanted = isVolumeAction(action)
      ? this.#volume.request(player, players, action, value)
      : positionIn(player, action, value);
    if (typeof wanted === 'string') return refused('not_possible_now', action, wanted);
    const reply = await host.control(player.id, verb, wanted, ANSWER_MS);
    switch (reply.outcome) {
      case 'done':
        return { delivered: 'true' };
      case 'unanswered':
        return { ...refused('action_failed', action, `${name}: ${reply.reason}`), delivered: 'unknown' };
      case 'gone':
        return refused('not_possible_now', action, `${name}: ${reply.reason}`);
      case 'failed':
        return refused('action_failed', action, `${name}: ${reply.reason}`);
    }
  }

  /** The players, once each has answered; watches them from the first call on. Waits at most `limitMs`. */
  async #settled(host: MediaHost, limitMs: number): Promise<MediaSnapshot> {
    if (!this.#isWatching) {
      this.#isWatching = true;
      host.onChange(() => this.#onChange(host));
      host.watch();
    }
    const snapshot = host.readPlayers();
    if (snapshot.isSettled) return snapshot;
    const { clock } = this.#options;
    await new Promise<void>((resolve) => {
      const finish = () => {
        clock.clearTimer(timer);
        this.#settling.delete(finish);
        resolve();
      };
      const timer = clock.setTimer(finish, limitMs);
      this.#settling.add(finish);
    });
    return host.readPlayers();
  }

  #onChange(host: MediaHost): void {
    if (this.#settling.size > 0 && host.readPlayers().isSettled)
      for (const finish of [...this.#settling]) finish();
    this.#changes.notify();
  }
}

const NOTHING = { absence: null, isSettled: true, players: [], leftOut: 0 };
const NO_HOST = 'media players are not supported on this platform';

/** The value that goes with the verb; a text is the reason why there is none. */
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
  if (player === undefined) throw new ServiceError('player_not_found', 'There is no player of that name.');
  return player;
}

function refused(
  code: 'not_supported' | 'not_possible_now' | 'action_failed',
  action: MediaAction,
  reason: string,
): Result {
  const sentence = {
    not_supported: `The action ${action} is not supported on this machine.`,
    not_possible_now: `The action ${action} is not possible now.`,
    action_failed: `The action ${action} failed.`,
  }[code];
  return { delivered: 'false', error: new ServiceError(code, sentence, { reason }) };
}

/** The last resort: whether any program acts on the key cannot be determined. */
async function pressKey(
  host: MediaHost,
  verb: MediaVerb,
  action: MediaAction,
  absence: string,
): Promise<Result> {
  const key = MEDIA_KEYS.find((each) => each === verb);
  if (key === undefined) return refused('not_supported', action, `${absence}; no media key does this`);
  const keyAbsence = host.keyAbsence();
  if (keyAbsence !== null) return refused('not_supported', action, `${absence}; ${keyAbsence}`);
  try {
    await host.pressKey(key);
    return { delivered: 'unknown' };
  } catch (error) {
    return refused('action_failed', action, error instanceof Error ? error.message : String(error));
  }
}

/** `media.play` … `media.toggle_mute`. */
export function mediaCommands(media: Media): readonly Command[] {
  return MEDIA_ACTIONS.map((action) =>
    defineCommand({
      name: `media.${action}`,
      feature: 'enable_media',
      check: (params) => checkMediaParams(action, params),
      run: (params) => media.command(action, params),
    }),
  );
}
