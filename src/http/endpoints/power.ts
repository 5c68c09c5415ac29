/** The routes of power: each action is a door to its row in the table of commands. */
import type { Commands } from '../../commands/command.ts';
import type { PowerPayload } from '../../wire/power.ts';
import { paramsOf } from '../query.ts';
import { featureDisabledAnswer, jsonAnswer } from '../reply.ts';
import type { Request, Route } from '../routes.ts';
import type { Answer } from '../uws/exchange.ts';

export interface PowerRoutesOptions {
  readonly commands: Commands;
  readonly readStatus: () => Promise<PowerPayload>;
}

const PREFIX = 'power.';

const QUERY_TYPES = { numbers: ['delay'], booleans: ['force'] };

export function powerRoutes({ commands, readStatus }: PowerRoutesOptions): readonly Route[] {
  return [
    {
      path: '/api/pw',
      methods: { GET: { run: async ({ headers }) => jsonAnswer(await readStatus(), headers) } },
    },
    ...commands.names
      .filter((name) => name.startsWith(PREFIX))
      .map(
        (name): Route => ({
          path: `/api/pw/${name.slice(PREFIX.length)}`,
          methods: { POST: { body: 'ignored', run: (request) => invoke(commands, name, request) } },
        }),
      ),
  ];
}

async function invoke(commands: Commands, name: string, request: Request): Promise<Answer | undefined> {
  const outcome = await commands.invoke(name, paramsOf(request.query, QUERY_TYPES));
  if (outcome === 'feature_disabled') return featureDisabledAnswer(request.headers);
  const answer = jsonAnswer(outcome.result, request.headers);
  if (outcome.onDelivered === undefined) return answer;
  request.exchange.answerAndClose(answer, outcome.onDelivered);
  return undefined;
}
