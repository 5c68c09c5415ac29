/** The cover of the track, where it is a file of this machine: the dashboard must not fetch it from another server. */
import type { Media } from '../../commands/media.ts';
import { ServiceError } from '../../errors.ts';
import { checkParams } from '../../params.ts';
import { mediaParams } from '../../wire/requests.ts';
import { statusLine } from '../reply.ts';
import type { Runs } from '../routes.ts';

export interface MediaArtRooms {
  readonly media: Pick<Media, 'art'>;
}

export function mediaArtRuns({ media }: MediaArtRooms): Runs<'getMediaArt'> {
  return {
    async getMediaArt({ query, headers }) {
      const { player } = checkParams(mediaParams, { player: query.get('player') ?? undefined });
      const picture = await media.art(player);
      if (picture === undefined)
        throw new ServiceError('not_found', 'The track has no picture on this machine.');
      return {
        status: statusLine(200),
        headers: [
          ['Content-Type', picture.type],
          ['Cache-Control', 'no-store'],
          ['Content-Security-Policy', "default-src 'none'; sandbox"],
          ...headers,
        ],
        body: picture.bytes,
      };
    },
  };
}
