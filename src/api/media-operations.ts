/** The operations of media, all experimental. */
import { mediaDetail, mediaResult, mediaStatus } from '../wire/media.ts';
import { mediaParams } from '../wire/requests.ts';
import type { Operations } from './operation.ts';
import { DETAIL } from './parameters.ts';
import { COMPONENTS } from './schemas.ts';

export const MEDIA_OPERATIONS: Operations = {
  '/api/media/status': {
    GET: {
      id: 'getMedia',
      tag: 'media',
      summary: 'What is playing',
      isExperimental: true,
      feature: 'enable_media',
      parameters: [DETAIL],
      query: mediaParams,
      payloads: [mediaStatus, mediaDetail],
      errors: ['invalid_value', 'player_not_found'],
    },
  },
  '/api/media/art': {
    GET: {
      id: 'getMediaArt',
      tag: 'media',
      summary: 'The picture of what is playing',
      description:
        'Where it is a file of this machine of at most 1 MiB: a player that names a picture elsewhere is answered with 404, and `art_url` of the status says where.',
      isExperimental: true,
      feature: 'enable_media',
      query: mediaParams,
      payloads: [],
      imageTypes: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
      errors: ['invalid_value', 'not_found', 'player_not_found', 'not_possible_now'],
    },
  },
  '/api/media/control': {
    POST: {
      id: 'controlMedia',
      tag: 'media',
      summary: 'Tell a player what to do',
      description:
        'play, pause, next and prev are answered with 200 whenever they are understood: X-Media-Delivered says whether a player took them. The others fail honestly.',
      isExperimental: true,
      feature: 'enable_media',
      query: mediaParams,
      body: COMPONENTS.MediaCommand,
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
    },
  },
};
