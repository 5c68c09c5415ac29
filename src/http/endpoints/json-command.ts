/** A command whose parameters are the JSON object of the body. */
import type { Commands } from '../../commands/command.ts';
import { parseJsonObject } from '../body.ts';
import type { Answer } from '../head.ts';
import { jsonAnswer } from '../reply.ts';
import type { Request } from '../routes.ts';
import { invoke } from './invoke.ts';

/** Runs the command `name` for `request`. Rejects as Commands.invoke. */
export async function runJsonCommand(commands: Commands, name: string, request: Request): Promise<Answer> {
  // Before the body is parsed, as the flag of every endpoint is.
  commands.refuseDisabled(name);
  const outcome = await invoke(commands, name, parseJsonObject(request.body), request);
  return jsonAnswer(outcome.result, request.headers);
}
