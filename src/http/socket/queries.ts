/** What clients of /api/ws ask: states and stats once, processes, and the door to the commands. */

import type { Config } from '../../config/schema.ts';
import { ServiceError } from '../../errors.ts';
import type { Params } from '../../params.ts';
import { checkDetails, checkList, listable, type ProcessQueries } from '../../processes/queries.ts';
import { type View, viewOf } from '../../stats/view.ts';
import type { MessageId, OpData, SocketRequest } from '../../wire/socket.ts';
import { type Asker, type CommandDoor, failureOf, feedbackText, type Group } from './commands.ts';
import { errorText, eventText } from './events.ts';
import type { State } from './states.ts';
import { topicOf } from './topics.ts';

export interface QueryOptions {
  readonly features: () => Config['features'];
  readonly states: readonly State[];
  readonly readStats: (view: View, id: MessageId | undefined) => string | Promise<string>;
  /** undefined: processes can't be seen here. */
  readonly queries: ProcessQueries | undefined;
  readonly door: CommandDoor;
}

/** Answers what is asked of the machine, or asked to be done. Rejects only when something is broken. */
export async function answerRequest(
  options: QueryOptions,
  asker: Asker,
  request: SocketRequest,
): Promise<void> {
  const { id } = request;
  const run = (group: 'media' | 'process' | 'power', action: string, params: Params) =>
    options.door.run(asker, { group, action, params, id });
  switch (request.op) {
    case 'get':
      return await get(options, asker, request.data, id);
    case 'process_list':
    case 'process_details':
      return await answerProcesses(options, asker, request);
    case 'media': {
      const { action, ...params } = request.data;
      return await run('media', action, params);
    }
    case 'power': {
      const { action, ...params } = request.data;
      return await run('power', action, params);
    }
    case 'process_kill':
      return await run('process', 'kill', request.data);
    case 'process_launch':
      return await run('process', 'launch', request.data);
    default:
      throw new Error(`${request.op} is no question`);
  }
}

/** One event a topic, in the order of the names. */
async function get(
  { states, readStats }: QueryOptions,
  asker: Asker,
  { topics, detail }: OpData<'get'>,
  id: MessageId | undefined,
): Promise<void> {
  for (const name of new Set(topics)) {
    const topic = topicOf(name);
    if (topic === undefined) {
      asker.send(errorText('INVALID_DATA', 'There is no such topic.', id, { topic: name }));
    } else if (topic.sections !== 0) {
      asker.send(await readStats(viewOf(topic.sections, detail), id));
    } else {
      for (const state of states)
        if ((topic.states & state.bit) !== 0)
          asker.send(await readEnabled(state, id, () => state.read(detail, id)));
    }
  }
}

/** The state, or why nobody may know it or it can't be told. Rejects only when something is broken. */
export async function readEnabled(
  state: State,
  id: MessageId | undefined,
  read: () => Promise<string>,
): Promise<string> {
  const { name, isEnabled } = state;
  if (!isEnabled)
    return errorText('FEATURE_DISABLED', `${name} is switched off in the configuration.`, id, {
      topic: name,
    });
  try {
    return await read();
  } catch (error) {
    return failureText(name === 'processes' ? 'process' : name, 'list', error, id);
  }
}

async function answerProcesses(
  { features, queries }: QueryOptions,
  asker: Asker,
  { op, id, data }: Extract<SocketRequest, { op: 'process_list' | 'process_details' }>,
): Promise<void> {
  if (!features().enable_processes) {
    asker.send(errorText('FEATURE_DISABLED', 'processes is switched off in the configuration.', id));
    return;
  }
  try {
    asker.send(
      op === 'process_list'
        ? eventText('process_list', await listable(queries).list(checkList(data)), id)
        : eventText('process_details', await listable(queries).details(checkDetails(data)), id),
    );
  } catch (error) {
    asker.send(failureText('process', ACTIONS[op], error, id));
  }
}

/** Throws what is no answer. */
function failureText(group: Group, action: string, error: unknown, id: MessageId | undefined): string {
  const failure = error instanceof ServiceError ? failureOf(action, error) : undefined;
  if (failure === undefined) throw error;
  return feedbackText(group, failure, id);
}

/** What the feedback to a question that failed calls it. */
const ACTIONS = { process_list: 'list', process_details: 'details' } as const;
