/** Media over HTTP: the status, and the media rows in the table of commands. */
import type { Commands } from '../../commands/command.ts';
import type { Media } from '../../commands/media.ts';
import { checkParams } from '../../params.ts';
import { parseView } from '../../stats/view.ts';
import { mediaParams, mediaRequest } from '../../wire/requests.ts';
import { parseJsonObject } from '../body.ts';
import type { Answer } from '../head.ts';
import { jsonAnswer } from '../reply.ts';
import type { Request, Runs } from '../routes.ts';
import { invoke } from './invoke.ts';

const PREFIX = 'media.';

export interface MediaRooms {
  readonly commands: Commands;
  readonly media: Pick<Media, 'status'>;
}

export function mediaRuns({ commands, media }: MediaRooms): Runs<'getMedia' | 'controlMedia'> {
  return {
    async getMedia({ query, headers }) {
      const { player } = checkParams(mediaParams, { player: query.get('player') ?? undefined });
      const { withDetail } = parseView([], query.get('detail')).view;
      return jsonAnswer(await media.status(player, withDetail), headers);
    },
    controlMedia: (request) => control(commands, request),
  };
}

async function control(commands: Commands, request: Request): Promise<Answer> {
  // Before the body is parsed, as the flag of every endpoint is.
  commands.refuseDisabled(PREFIX);
  const named = request.query.get('player');
  const asked = { ...(named === null ? {} : { player: named }), ...parseJsonObject(request.body) };
  const { action, ...params } = checkParams(mediaRequest, asked);
  const outcome = await invoke(commands, `${PREFIX}${action}`, params, request);
  const { result, delivered = 'unknown' } = outcome;
  return jsonAnswer(result, [['X-Media-Delivered', delivered], ...request.headers]);
}
