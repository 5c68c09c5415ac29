/** The payload of GET /api/media/status, and the result of a media command. */
import * as v from 'valibot';
import { means } from './meaning.ts';
import type { DocsOf } from './operation-docs.ts';
import { anyPercent, anySeconds, known, type Shape } from './quantities.ts';
import { MEDIA_ACTIONS, mediaParams, mediaValueParams } from './requests.ts';

/** The contract's three keys. */
export const mediaStatus = v.strictObject({
  status: means(
    v.picklist(['active', 'idle', 'stopped']),
    'active: playing or paused, with a title or an artist. idle: a player without either, or one that has stopped. stopped: no player.',
  ),
  title: means(v.string(), 'Title of the track, or its file name where it has none; empty unless active.'),
  artist: means(v.string(), 'Artist, or that of the album; several are joined with ", ".'),
});
export type MediaStatus = Shape<typeof mediaStatus>;

/** Includes the keys of `detail=1`. null: the player did not report it. */
export const mediaDetail = v.strictObject({
  ...mediaStatus.entries,
  playback: means(v.picklist(['playing', 'paused', 'stopped']), 'State of the player.'),
  playing: means(v.boolean(), 'Whether `playback` is playing.'),
  album: means(known(v.string()), 'Album.'),
  position: means(known(anySeconds), 'Position in the track.'),
  duration: means(known(anySeconds), 'Length of the track.'),
  rate: means(known(v.number()), 'Playback speed; 1 is normal.'),
  shuffle: means(known(v.boolean()), 'Tracks are played in random order.'),
  repeat: means(known(v.picklist(['none', 'track', 'playlist'])), 'What is repeated.'),
  volume: means(known(anyPercent), 'Volume; some players go beyond 100.'),
  muted: means(known(v.boolean()), 'Whether the volume is 0; players have no other way to mute.'),
  supports_ctrl: means(v.boolean(), 'Whether a player exists and currently accepts at least one command.'),
  player: means(
    known(v.string()),
    'The player that this status describes, and that commands without `player` go to.',
  ),
  players: means(
    v.array(v.string()),
    'The names that `player` may have in a request. The number that a program appends at each start is left out where only one of it is there.',
  ),
  art_url: means(
    known(v.string()),
    'Address of the cover, as the player reports it; null if it is longer than 16 KiB.',
  ),
  has_art: means(
    v.boolean(),
    'Whether `/api/media/art` can have the cover: `art_url` is a file or a data: URI.',
  ),
});
export type MediaDetail = Shape<typeof mediaDetail>;

export type MediaPayload = MediaStatus | MediaDetail;

export const mediaResult = v.strictObject({ status: v.literal('ok') });

const plainActions = MEDIA_ACTIONS.filter((action) => !Object.hasOwn(mediaValueParams, action));

/** The body of a media command, for the documents: mediaRequest does not show which actions need a value. */
export const mediaCommand = v.variant('action', [
  v.object({ action: v.picklist(plainActions), ...mediaParams.entries }),
  v.object({ action: v.literal('seek'), ...mediaValueParams.seek.entries }),
  v.object({ action: v.literal('set_volume'), ...mediaValueParams.set_volume.entries }),
]);

export const MEDIA_DOCS: DocsOf<'getMedia' | 'getMediaArt' | 'controlMedia'> = {
  getMedia: {
    summary: 'The track that is playing',
    description: 'With `detail=1` also album, position, volume, the players and more.',
    parameters: ['detail'],
    query: mediaParams,
    payloads: [mediaStatus, mediaDetail],
    errors: ['invalid_value', 'player_not_found'],
    example: { target: '/api/media/status?detail=1' },
  },
  getMediaArt: {
    summary: 'The cover of the track that is playing',
    description:
      'Only a file of this machine that the user of the player may read, or a picture that the player reports as a data: URI in base64; at most 1 MiB (PNG, JPEG, GIF or WebP). Otherwise 404 `not_found`, and `art_url` of the status says where the picture is. Requests within 2 s share one reading. 409 `not_possible_now`: reading its file timed out, or another picture is being read.',
    query: mediaParams,
    payloads: [],
    imageTypes: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
    maxThroughBroker: '780,000 bytes',
    errors: ['invalid_value', 'not_found', 'player_not_found', 'not_possible_now'],
    example: { options: '-o cover' },
  },
  controlMedia: {
    summary: 'Control a media player',
    description:
      '`play`, `pause`, `next` and `prev` are answered with 200 whenever they are understood; `X-Media-Delivered` (`true`, `false`, `unknown`) says whether a player accepted them; `play` is not sent to a player that is already playing. The other actions return an error when they fail; if the player accepted a volume but did not change it, `X-Media-Delivered` is `false`. `mute` sets the volume to 0, `unmute` to what it was before. `player` may be in the body or in the query.',
    query: mediaParams,
    body: mediaCommand,
    payloads: [mediaResult],
    headers: ['X-Media-Delivered'],
    errors: [
      'missing_field',
      'invalid_value',
      'unknown_action',
      'player_not_found',
      'not_possible_now',
      'action_failed',
      'not_supported',
    ],
    example: { body: { action: 'pause' } },
  },
};
