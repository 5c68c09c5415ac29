/** The routes of media: what is played, and the door to the media rows in the table of commands. */
import type { Commands } from '../../commands/command.ts';
import { checkParams } from '../../params.ts';
import { parseView } from '../../stats/view.ts';
import type { MediaPayload } from '../../wire/media.ts';
import { mediaParams, mediaRequest } from '../../wire/requests.ts';
import { parseJsonObject } from '../body.ts';
import { featureDisabledAnswer, jsonAnswer } from '../reply.ts';
import type { Request, Route } from '../routes.ts';
import type { Answer } from '../uws/exchange.ts';

export interface MediaRoutesOptions {
  readonly commands: Commands;
  /** Rejects with `player_not_found`. */
  readonly readStatus: (player: string | undefined, withDetail: boolean) => Promise<MediaPayload>;
}

const PREFIX = 'media.';

export function mediaRoutes({ commands, readStatus }: MediaRoutesOptions): readonly Route[] {
  return [
    {
      path: '/api/media/status',
      methods: {
        GET: {
          feature: 'enable_media',
          async run({ query, headers }) {
            const { player } = checkParams(mediaParams, { player: query.get('player') ?? undefined });
            const { withDetail } = parseView([], query.get('detail')).view;
            return jsonAnswer(await readStatus(player, withDetail), headers);
          },
        },
      },
    },
    {
      path: '/api/media/control',
      methods: {
        POST: {
          body: 'json',
          feature: 'enable_media',
          run: (request) => control(commands, request),
        },
      },
    },
  ];
}

async function control(commands: Commands, request: Request): Promise<Answer> {
  const named = request.query.get('player');
  const asked = { ...(named === null ? {} : { player: named }), ...parseJsonObject(request.body) };
  const { action, ...params } = checkParams(mediaRequest, asked);
  const outcome = await commands.invoke(`${PREFIX}${action}`, params);
  if (outcome === 'feature_disabled') return featureDisabledAnswer(request.headers);
  const { result, delivered = 'unknown' } = outcome;
  return jsonAnswer(result, [['X-Media-Delivered', delivered], ...request.headers]);
}
