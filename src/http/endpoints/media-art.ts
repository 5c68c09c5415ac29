/** The cover of the track, where it is a file of this machine: the dashboard must not fetch it from another server. */
import type { Media } from '../../commands/media.ts';
import { requestedPicture } from '../../commands/media-art.ts';
import { statusLine } from '../reply.ts';
import type { Runs } from '../routes.ts';

export interface MediaArtRooms {
  readonly media: Pick<Media, 'art'>;
}

export function mediaArtRuns({ media }: MediaArtRooms): Runs<'getMediaArt'> {
  return {
    async getMediaArt({ query, headers }) {
      const picture = await requestedPicture(media, { player: query.get('player') ?? undefined });
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
