/** The media commands: which player takes them, which are answered however they go; and their rows in the table. */
import type { Clock } from '../clock.ts';
import type { Config } from '../config/schema.ts';
import { ServiceError } from '../errors.ts';
import { MEDIA_KEYS, type MediaHost, type MediaPlayer, type MediaVerb } from '../host/media.ts';
import type { Log } from '../log.ts';
import type { Capability } from '../wire/capability.ts';
import type { MediaPayload } from '../wire/media.ts';
import { MEDIA_ACTIONS, type MediaAction } from '../wire/requests.ts';
import { type Command, type Delivered, defineCommand, type Outcome } from './command.ts';
import { checkMediaParams, type MediaParams } from './media-params.ts';
import { deriveMediaStatus, findPlayer, nameOf, selectPlayer } from './media-status.ts';

export interface MediaOptions {
  /** undefined: this platform tells of no players. */
  readonly host: MediaHost | undefined;
  readonly clock: Clock;
  readonly features: () => Config['features'];
  readonly log: Log;
  /** The players have changed; told only once somebody has asked of them. */
  readonly onChange: () => void;
}

/** The contract's four: answered with ok whenever they are understood. */
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
};

/** What the first answers of all players are waited for, at the first request of all. */
const STATUS_SETTLE_MS = 1100;
/** A command leaves most of its time to the player that it is for. */
const CONTROL_SETTLE_MS = 400;
/** Together with the former less than the 1.5 s that a request may take. */
const ANSWER_MS = 1000;

const VOLUME_STEP = 0.05;
/** Players tell of a new volume a little later: the next step starts from what was asked for. */
const VOLUME_TOLD_MS = 1000;

const OK = { status: 'ok' } as const;

/** How a command went. `error` is what those hear that are answered honestly. */
interface Verdict {
  readonly delivered: Delivered;
  readonly error?: ServiceError;
}

interface AskedVolume {
  readonly id: string;
  readonly volume: number;
  readonly atMs: number;
}

export class Media {
  readonly #options: MediaOptions;
  readonly #settling = new Set<() => void>();
  #isWatching = false;
  #askedVolume: AskedVolume | undefined;

  constructor(options: MediaOptions) {
    this.#options = options;
  }

  /** What is played, by the player `name` or by the one that is meant without. Rejects with `player_not_found`. */
  async status(name: string | undefined, withDetail: boolean): Promise<MediaPayload> {
    const { host } = this.#options;
    if (host === undefined) return deriveMediaStatus(NOTHING, choose(NOTHING, name), withDetail);
    await this.#settle(host, STATUS_SETTLE_MS);
    const snapshot = host.readPlayers();
    return deriveMediaStatus(snapshot, choose(snapshot, name), withDetail);
  }

  async capability(): Promise<Capability> {
    const { host, features } = this.#options;
    const refuse = (reason: string) => ({ enabled: features().enable_media, supported: false, reason });
    if (!features().enable_media) return refuse('features.enable_media is off, so no player is looked for');
    if (host === undefined) return refuse(NO_HOST);
    await this.#settle(host, CONTROL_SETTLE_MS);
    const { absence } = host.readPlayers();
    if (absence !== null && host.keyAbsence() !== null) return refuse(absence);
    return { enabled: true, supported: true, reason: null };
  }

  /**
   * Carries `action` out. The contract's four are answered alike however they go; the others reject with ServiceError:
   * `not_supported`, `not_possible_now`, `action_failed`. A player that is named and not there: `player_not_found`.
   */
  async command(action: MediaAction, params: MediaParams): Promise<Outcome> {
    const { delivered, error } = await this.#carryOut(action, params);
    if (error === undefined) return { result: OK, delivered };
    if (!ALWAYS_OK.has(action)) throw error;
    this.#options.log.info(`media: ${action} was not done: ${String(error.details?.['reason'])}`);
    return { result: OK, delivered, failure: error };
  }

  async #carryOut(action: MediaAction, { player: name, value }: MediaParams): Promise<Verdict> {
    const { host } = this.#options;
    const verb = VERBS[action];
    if (host === undefined) {
      choose(NOTHING, name);
      return refused('not_supported', action, NO_HOST);
    }
    await this.#settle(host, CONTROL_SETTLE_MS);
    const snapshot = host.readPlayers();
    const player = choose(snapshot, name);
    if (player !== undefined) return this.#speakTo(host, player, action, value);
    if (snapshot.absence === null) return refused('not_possible_now', action, 'there is no player');
    return pressKey(host, verb, action, snapshot.absence);
  }

  async #speakTo(
    host: MediaHost,
    player: MediaPlayer,
    action: MediaAction,
    value: number | undefined,
  ): Promise<Verdict> {
    const verb = VERBS[action];
    const name = nameOf(player);
    if (player.cannot.includes(verb))
      return refused('not_possible_now', action, `${name} says that it can't do that now`);
    const wanted = this.#valueFor(player, action, value);
    if (typeof wanted === 'string') return refused('not_possible_now', action, wanted);
    if (verb === 'set_volume' && wanted !== undefined)
      this.#askedVolume = { id: player.id, volume: wanted, atMs: this.#options.clock.now() };
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

  /** What the player is told with the verb, in its own units; a text says why there is nothing to tell it. */
  #valueFor(
    player: MediaPlayer,
    action: MediaAction,
    value: number | undefined,
  ): number | undefined | string {
    if (action === 'set_volume') return (value ?? 0) / 100;
    if (action === 'volume_up' || action === 'volume_down') {
      const asked = this.#askedVolume;
      const isRecent = asked?.id === player.id && this.#options.clock.now() - asked.atMs < VOLUME_TOLD_MS;
      const volume = isRecent ? asked.volume : player.volume;
      if (volume === null) return `${nameOf(player)} does not tell its volume`;
      const step = action === 'volume_up' ? VOLUME_STEP : -VOLUME_STEP;
      // One that is beyond full already is not turned down by asking for more.
      return Math.min(Math.max(volume + step, 0), Math.max(1, volume));
    }
    const { durationSeconds } = player;
    if (action === 'seek' && durationSeconds !== null && value !== undefined && value > durationSeconds)
      return `the track ends after ${Math.floor(durationSeconds)} s`;
    return value;
  }

  /** Begins to watch the players, and waits until all have told of themselves once, for `limitMs` at most. */
  #settle(host: MediaHost, limitMs: number): Promise<void> {
    if (!this.#isWatching) {
      this.#isWatching = true;
      host.onChange(() => this.#onChange(host));
      host.watch();
    }
    if (host.readPlayers().isSettled) return Promise.resolve();
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const finish = () => {
        clock.clearTimer(timer);
        this.#settling.delete(finish);
        resolve();
      };
      const timer = clock.setTimer(finish, limitMs);
      this.#settling.add(finish);
    });
  }

  #onChange(host: MediaHost): void {
    if (this.#settling.size > 0 && host.readPlayers().isSettled)
      for (const finish of [...this.#settling]) finish();
    this.#options.onChange();
  }
}

const NOTHING = { absence: null, isSettled: true, players: [], leftOut: 0 };
const NO_HOST = 'players are not known of on this platform';

/** Throws `player_not_found`. */
function choose(snapshot: Parameters<typeof selectPlayer>[0], name: string | undefined) {
  if (name === undefined) return selectPlayer(snapshot);
  const player = findPlayer(snapshot, name);
  if (player === undefined) throw new ServiceError('player_not_found', 'There is no player of that name.');
  return player;
}

function refused(
  code: 'not_supported' | 'not_possible_now' | 'action_failed',
  action: MediaAction,
  reason: string,
): Verdict {
  const sentence = {
    not_supported: `This machine can't be asked to ${action}.`,
    not_possible_now: `The action ${action} is not possible now.`,
    action_failed: `The action ${action} failed.`,
  }[code];
  return { delivered: 'false', error: new ServiceError(code, sentence, { reason }) };
}

/** The last resort: a key goes to whoever listens, and nobody says whether anyone did. */
async function pressKey(
  host: MediaHost,
  verb: MediaVerb,
  action: MediaAction,
  absence: string,
): Promise<Verdict> {
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

/** `media.play` … `media.volume_down`. */
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
