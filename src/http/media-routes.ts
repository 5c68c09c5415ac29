/** The routes of media: what is played, and the door to the media rows in the table of commands. */
import type { Commands } from '../commands/command.ts';
import { checkPlayer } from '../commands/media-params.ts';
import { ServiceError } from '../errors.ts';
import { parseView } from '../stats/view.ts';
import type { MediaPayload } from '../wire/media.ts';
import { parseJsonObject } from './body.ts';
import type { Answer } from './exchange.ts';
import { featureDisabledAnswer, jsonAnswer } from './reply.ts';
import type { Request, Route } from './routes.ts';

export interface MediaRoutesOptions {
  readonly commands: Commands;
  /** Rejects with `player_not_found`. */
  readonly readStatus: (player: string | undefined, withDetail: boolean) => Promise<MediaPayload>;
}

const PREFIX = 'media.';

export function mediaRoutes({ commands, readStatus }: MediaRoutesOptions): readonly Route[] {
  const actions = commands.names
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length));
  return [
    {
      path: '/api/media/status',
      methods: {
        GET: {
          feature: 'enable_media',
          async run({ query, headers }) {
            const player = checkPlayer(query.get('player') ?? undefined);
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
          run: (request) => control(commands, actions, request),
        },
      },
    },
  ];
}

async function control(commands: Commands, actions: readonly string[], request: Request): Promise<Answer> {
  const { action, ...given } = parseJsonObject(request.body);
  if (action === undefined) throw new ServiceError('missing_field', 'The body needs an action.');
  if (typeof action !== 'string') throw new ServiceError('invalid_value', 'The action must be a string.');
  if (!actions.includes(action))
    throw new ServiceError('unknown_action', 'There is no such action.', { allowed: actions });
  const named = request.query.get('player');
  const params = named === null ? given : { player: named, ...given };
  const outcome = await commands.invoke(`${PREFIX}${action}`, params);
  if (outcome === 'feature_disabled') return featureDisabledAnswer(request.headers);
  const { result, delivered = 'unknown' } = outcome;
  return jsonAnswer(result, [['X-Media-Delivered', delivered], ...request.headers]);
}
