/** Answers the requests of /api/ws other than subscriptions: topics once, stats once, processes, history, commands. */
import type { CurrentConfig } from '../../config/current.ts';
import { type ErrorCode, featureDisabled, ServiceError } from '../../errors.ts';
import type { HistoryQueries } from '../../history/queries.ts';
import type { Params } from '../../params.ts';
import { checkDetails, checkList, listable, type ProcessQueries } from '../../processes/queries.ts';
import type { SampleSource } from '../../stats/source.ts';
import { type Encoded, type View, viewOf } from '../../stats/view.ts';
import type { MessageId, OpData, SocketRequest } from '../../wire/socket.ts';
import type { EventData } from '../../wire/socket-events.ts';
import type { Asker, CommandDoor } from './commands.ts';
import { errorText, eventTextOf } from './events.ts';
import { failureOf, feedbackText, type Group } from './feedback.ts';
import type { State } from './states.ts';
import { EVENTS_BIT, topicOf } from './topic-names.ts';

export interface Queried {
  readonly config: CurrentConfig;
  readonly source: Pick<SampleSource, 'peek' | 'latest'>;
  readonly states: readonly State[];
  /** undefined: processes are not supported on this platform. */
  readonly processes: ProcessQueries | undefined;
  readonly history: Pick<HistoryQueries, 'isOn' | 'series' | 'processesAt'>;
  readonly door: CommandDoor;
}

/** Answers `request`. Rejects only when something is broken. */
export async function answerRequest(queried: Queried, asker: Asker, request: SocketRequest): Promise<void> {
  const { id } = request;
  const run = (group: Group, action: string, params: Params) =>
    queried.door.run(asker, { group, action, params, id });
  switch (request.op) {
    case 'get':
      return await get(queried, asker, request.data, id);
    case 'process_list':
    case 'process_details':
      return await answerProcesses(queried, asker, request);
    case 'history':
    case 'process_history':
      return await answerHistory(queried, asker, request);
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
    case 'wake':
      return await run('wake', 'wake', request.data);
    default:
      throw new Error(`${request.op} is not answered here`);
  }
}

/** One event per topic, in the order of the names. */
async function get(
  { states, source }: Queried,
  asker: Asker,
  { topics, detail }: OpData<'get'>,
  id: MessageId | undefined,
): Promise<void> {
  for (const name of new Set(topics)) {
    const topic = topicOf(name);
    if (topic === undefined) {
      asker.send(errorText('INVALID_DATA', 'There is no such topic.', id, { topic: name }));
    } else if (topic.sections !== 0) {
      asker.send(await readStats(source, viewOf(topic.sections, detail), id));
    } else if (topic.states === EVENTS_BIT) {
      asker.send(errorText('INVALID_DATA', 'The op history has past events.', id, { topic: name }));
    } else {
      for (const state of states)
        if ((topic.states & state.bit) !== 0)
          asker.send(await readEnabled(state, id, () => state.read(detail, id)));
    }
  }
}

/** The stats of `view` as a message: at once if they are younger than 0.9 s, otherwise as a promise. */
export function readStats(
  source: Pick<SampleSource, 'peek' | 'latest'>,
  view: View,
  id: MessageId | undefined,
): string | Promise<string> {
  const textOf = (encoded: Encoded) => eventTextOf('system_stats', encoded.json(view), id);
  const young = source.peek(view);
  return young === undefined ? source.latest(view).then(textOf) : textOf(young);
}

/** The state, or the reason why it is not sent. Rejects only when something is broken. */
export async function readEnabled(
  { name, row, isEnabled }: State,
  id: MessageId | undefined,
  read: () => Promise<string>,
): Promise<string> {
  if (!isEnabled) return disabledText(name, id, { topic: name });
  try {
    return await read();
  } catch (error) {
    return failureText(row.group, 'list', error, id);
  }
}

async function answerProcesses(
  { config, processes }: Queried,
  asker: Asker,
  { op, id, data }: Extract<SocketRequest, { op: 'process_list' | 'process_details' }>,
): Promise<void> {
  if (!config.current.features.enable_processes) {
    asker.send(disabledText('processes', id));
    return;
  }
  try {
    const queries = listable(processes);
    const json =
      op === 'process_list'
        ? await queries.list(checkList(data), asker.caller.address)
        : await queries.details(checkDetails(data), asker.caller.address);
    asker.send(eventTextOf(op, json, id));
  } catch (error) {
    asker.send(failureText('process', ACTIONS[op], error, id));
  }
}

async function answerHistory(
  { config, history }: Queried,
  asker: Asker,
  request: Extract<SocketRequest, { op: 'history' | 'process_history' }>,
): Promise<void> {
  const { op, id, data } = request;
  const { address } = asker.caller;
  if (op === 'process_history' && !config.current.features.enable_processes) {
    asker.send(disabledText('processes', id));
    return;
  }
  try {
    const read = op === 'history' ? history.series(data, address) : history.processesAt(data, address);
    asker.send(eventTextOf(op, (await read).json, id));
  } catch (error) {
    const code = error instanceof ServiceError ? HISTORY_CODES[error.code] : undefined;
    if (code === undefined) throw error;
    asker.send(errorText(code, (error as ServiceError).message, id)); // It has a code.
  }
}

/** The codes of HTTP for a question about the history that is refused, as codes of messages. */
const HISTORY_CODES: Readonly<Partial<Record<ErrorCode, EventData<'error'>['code']>>> = {
  feature_disabled: 'FEATURE_DISABLED',
  invalid_value: 'INVALID_DATA',
  not_possible_now: 'RATE_LIMITED',
};

export const disabledText = (
  name: string,
  id: MessageId | undefined,
  details?: Readonly<Record<string, unknown>>,
) => errorText('FEATURE_DISABLED', featureDisabled(name).message, id, details);

/** Feedback that a query has failed. Throws any other error. */
function failureText(group: Group, action: string, error: unknown, id: MessageId | undefined): string {
  const failure = error instanceof ServiceError ? failureOf(action, error) : undefined;
  if (failure === undefined) throw error;
  return feedbackText(group, failure, id);
}

/** The action in the feedback of a failed query. */
const ACTIONS = { process_list: 'list', process_details: 'details' } as const;
