/** Power over HTTP: each action invokes its row in the table of commands. */
import type { Commands } from '../../commands/command.ts';
import type { Power } from '../../commands/power.ts';
import type { POWER_ACTIONS } from '../../wire/requests.ts';
import type { Answer } from '../head.ts';
import { paramsOf } from '../query.ts';
import { jsonAnswer } from '../reply.ts';
import type { Request, Run, Runs } from '../routes.ts';

const QUERY_TYPES = { numbers: ['delay'], booleans: ['force'] };

export interface PowerRooms {
  readonly commands: Commands;
  readonly power: Pick<Power, 'status'>;
}

export function powerRuns({
  commands,
  power,
}: PowerRooms): Runs<'getPower' | 'cancelPower' | (typeof POWER_ACTIONS)[number]> {
  const runOf = (name: string): Run => {
    return (request) => invoke(commands, name, request);
  };
  return {
    getPower: async ({ headers }) => jsonAnswer(await power.status(), headers),
    shutdown: runOf('power.shutdown'),
    restart: runOf('power.restart'),
    sleep: runOf('power.sleep'),
    hibernate: runOf('power.hibernate'),
    lock: runOf('power.lock'),
    cancelPower: runOf('power.cancel'),
  };
}

async function invoke(commands: Commands, name: string, request: Request): Promise<Answer | undefined> {
  const outcome = await commands.invoke(name, paramsOf(request.query, QUERY_TYPES), request.client);
  const answer = jsonAnswer(outcome.result, request.headers);
  if (outcome.onDelivered === undefined) return answer;
  request.exchange.answerAndClose(answer, outcome.onDelivered);
  return undefined;
}
