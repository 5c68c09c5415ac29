/** What GET /api/media/status answers, and what a media command answers with. */
import * as v from 'valibot';
import { known, type Shape } from './quantities.ts';

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
