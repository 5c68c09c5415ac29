/**
 * The picture of a track, where it is a file of this machine or part of its own address. A player may name any file, and
 * it may be on a server that no longer answers: the host reads it with the player's rights, and one picture is read at a
 * time, for all who request it.
 */
import type { Clock } from '../clock.ts';
import { messageOf, ServiceError } from '../errors.ts';
import { QUOTAS } from '../fairness/limits.ts';
import type { MediaHost, MediaPlayer } from '../host/media.ts';
import type { Log } from '../log/log.ts';
import { checkParams, type Params } from '../params.ts';
import { mediaParams } from '../wire/requests.ts';
import { bytesIn, filesNamed, hasPicture } from './media-addresses.ts';
import { nameOf } from './media-status.ts';

/** Wait for a reading, counted from its start. */
const READ_LIMIT_MS = 1500;
/** How long a picture answers further requests for it. */
const CACHED_MS = 2000;

export interface Picture {
  readonly type: string;
  /** Shared by all answers: not to be written to. */
  readonly bytes: Buffer;
}

interface Reading {
  /** The player, the picture's address and the track. */
  readonly key: string;
  /** Rejects with `not_possible_now` after READ_LIMIT_MS. undefined: it is not a picture, or cannot be read. */
  readonly picture: Promise<Picture | undefined>;
}

export interface MediaArtOptions {
  readonly host: Pick<MediaHost, 'readArt' | 'askArtUrl'>;
  readonly clock: Clock;
  readonly log: Log;
}

export class MediaArt {
  readonly #options: MediaArtOptions;
  /** Until the host has settled it, which may be long after its limit. */
  #reading: Reading | undefined;
  #cached: { readonly key: string; readonly picture: Picture } | undefined;
  /** The last failure that was logged. */
  #logged = '';

  constructor(options: MediaArtOptions) {
    this.#options = options;
  }

  /**
   * The picture of the track that `player` reports; undefined when it reports none that is a file or a data: URI, or
   * that is a picture which its user may read. Rejects with `not_possible_now` when the file does not answer, or while another one is being read.
   */
  async read(player: MediaPlayer): Promise<Picture | undefined> {
    if (!hasPicture(player)) return undefined;
    // Some players write the picture of each track to the same file.
    const key = JSON.stringify([player.id, player.artUrl, player.title, player.url]);
    if (this.#cached?.key === key) return this.#cached.picture;
    if (this.#reading === undefined) this.#reading = this.#begin(player, key);
    else if (this.#reading.key !== key)
      throw new ServiceError('not_possible_now', 'Another picture is being read.');
    return await this.#reading.picture;
  }

  #begin(player: MediaPlayer, key: string): Reading {
    const picture = this.#read(player).then(
      (bytes) => pictureOf(bytes),
      (error: unknown) => this.#report(player, error),
    );
    void picture.then((read) => {
      this.#reading = undefined;
      if (read !== undefined) this.#keep(key, read);
    });
    return { key, picture: this.#limited(picture) };
  }

  async #read({ id, artUrl, isArtLong }: MediaPlayer): Promise<Buffer> {
    const { host } = this.#options;
    const address = isArtLong ? await host.askArtUrl(id, QUOTAS.coverUrl.maxBytes, READ_LIMIT_MS) : artUrl;
    if (address === null) throw new Error('the player did not answer, or the address is too long');
    const bytes = bytesIn(address);
    if (bytes !== undefined && bytes.length > QUOTAS.cover.maxBytes)
      throw new Error(`it has more than ${QUOTAS.cover.maxBytes} bytes`);
    if (bytes !== undefined) return bytes;
    let failure: unknown = new Error('it is neither a file of this machine nor in base64');
    for (const [i, file] of filesNamed(address).entries()) {
      try {
        return await host.readArt(id, file, QUOTAS.cover.maxBytes);
      } catch (error) {
        if (i === 0) failure = error;
      }
    }
    throw failure;
  }

  #keep(key: string, picture: Picture): void {
    const cached = { key, picture };
    this.#cached = cached;
    this.#options.clock.setTimer(() => {
      if (this.#cached === cached) this.#cached = undefined;
    }, CACHED_MS);
  }

  /** A player whose picture cannot be read is asked for it again and again: one line per reason. */
  #report(player: MediaPlayer, error: unknown): undefined {
    const reason = messageOf(error);
    const line = `media: cannot read the picture from ${nameOf(player)}: ${reason}`;
    if (line !== this.#logged) this.#options.log.info(line);
    this.#logged = line;
  }

  async #limited<T>(promise: Promise<T>): Promise<T> {
    const { clock } = this.#options;
    let timer: unknown;
    const tooLate = new Promise<never>((_, reject) => {
      const error = new ServiceError('not_possible_now', 'Reading the picture timed out.');
      timer = clock.setTimer(() => reject(error), READ_LIMIT_MS);
    });
    try {
      return await Promise.race([promise, tooLate]);
    } finally {
      clock.clearTimer(timer);
    }
  }
}

/** The type by the first bytes. Any other file is not sent, whatever its name. */
function typeOf(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 12);
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif';
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : undefined;
}

function pictureOf(bytes: Buffer): Picture | undefined {
  const type = typeOf(bytes);
  return type === undefined ? undefined : { type, bytes };
}

/** The picture that a request for one is answered with. Rejects as Media.art, and with `invalid_value` and `not_found`. */
export async function requestedPicture(
  media: { readonly art: (name: string | undefined) => Promise<Picture | undefined> },
  params: Params,
): Promise<Picture> {
  const { player } = checkParams(mediaParams, { player: params['player'] });
  const picture = await media.art(player);
  if (picture === undefined) throw new ServiceError('not_found', 'The track has no picture on this machine.');
  return picture;
}
