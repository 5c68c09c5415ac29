/** What GET /api/media/status answers, and what a media command answers with. */
import * as v from 'valibot';
import type { DocsOf } from './operation-docs.ts';
import { known, type Shape } from './quantities.ts';
import { MEDIA_ACTIONS, mediaParams, mediaValueParams } from './requests.ts';

/** The contract's three keys. */
export const mediaStatus = v.strictObject({
  status: v.pipe(
    v.picklist(['active', 'idle', 'stopped']),
    v.description(
      'active: playing or paused, with a title or an artist. idle: a player without either, or one that has stopped. stopped: no player.',
    ),
  ),
  title: v.pipe(v.string(), v.description('Empty unless active.')),
  artist: v.pipe(v.string(), v.description('Several are joined with ", ".')),
});
export type MediaStatus = Shape<typeof mediaStatus>;

const seconds = known(v.pipe(v.number(), v.description('Seconds.')));

/** With what `detail=1` adds. null: the player did not say. */
export const mediaDetail = v.strictObject({
  ...mediaStatus.entries,
  playback: v.picklist(['playing', 'paused', 'stopped']),
  album: known(v.string()),
  position: seconds,
  duration: seconds,
  rate: v.pipe(known(v.number()), v.description('1 is the usual speed.')),
  shuffle: known(v.boolean()),
  repeat: known(v.picklist(['none', 'track', 'playlist'])),
  volume: v.pipe(known(v.number()), v.description('0 to 100; some players go beyond.')),
  player: v.pipe(
    known(v.string()),
    v.description('The player that this is told of, and that commands without `player` go to.'),
  ),
  players: v.pipe(v.array(v.string()), v.description('The names that `player` may have in a request.')),
  art_url: known(v.string()),
});
export type MediaDetail = Shape<typeof mediaDetail>;

export type MediaPayload = MediaStatus | MediaDetail;

export const mediaResult = v.strictObject({ status: v.literal('ok') });

const plainActions = MEDIA_ACTIONS.filter((action) => !Object.hasOwn(mediaValueParams, action));

/** The body of a media command for the documents: mediaRequest, which checks it, does not say which needs a value. */
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
      'Only a file of this machine of at most 1 MiB (PNG, JPEG, GIF or WebP); otherwise 404 `not_found`, and `art_url` of the status says where the picture is.',
    query: mediaParams,
    payloads: [],
    imageTypes: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
    errors: ['invalid_value', 'not_found', 'player_not_found', 'not_possible_now'],
    example: { options: '-o cover' },
  },
  controlMedia: {
    summary: 'Control a media player',
    description:
      '`play`, `pause`, `next` and `prev` are answered with 200 whenever they are understood; `X-Media-Delivered` (`true`, `false`, `unknown`) says whether a player accepted them. The other actions return an error when they fail. `player` may be in the body or in the query.',
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
