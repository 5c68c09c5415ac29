/** Power over HTTP: each action invokes its row in the table of commands. */
import type { Commands } from '../../commands/command.ts';
import type { Power } from '../../commands/power.ts';
import type { POWER_ACTIONS } from '../../wire/requests.ts';
import type { Answer } from '../head.ts';
import { paramsOf } from '../query.ts';
import { jsonAnswer } from '../reply.ts';
import type { Request, Run, Runs } from '../routes.ts';
import { invoke } from './invoke.ts';
import { POWER_QUERY } from './query-types.ts';

export interface PowerRooms {
  readonly commands: Commands;
  readonly power: Pick<Power, 'status'>;
}

export function powerRuns({
  commands,
  power,
}: PowerRooms): Runs<'getPower' | 'cancelPower' | (typeof POWER_ACTIONS)[number]> {
  const runOf = (name: string): Run => {
    return (request) => run(commands, name, request);
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

async function run(commands: Commands, name: string, request: Request): Promise<Answer | undefined> {
  const outcome = await invoke(commands, name, paramsOf(request.query, POWER_QUERY), request);
  const answer = jsonAnswer(outcome.result, request.headers);
  if (outcome.onDelivered === undefined) return answer;
  request.exchange.answerAndClose(answer, outcome.onDelivered);
  return undefined;
}
