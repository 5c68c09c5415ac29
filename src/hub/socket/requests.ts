/** Answers the requests of a hub's WebSockets about one machine other than subscriptions: topics once, questions, commands. */
import { ServiceError } from '../../errors.ts';
import type { Caller } from '../../http/clients/caller.ts';
import { failureOf, type Group } from '../../http/socket/feedback.ts';
import { bitOf, EVENTS_BIT, TOPIC_NAMES, topicOf } from '../../http/socket/topic-names.ts';
import type { Params } from '../../params.ts';
import { type View, viewOf } from '../../stats/view.ts';
import type { MessageId, OpData, SocketRequest } from '../../wire/socket.ts';
import { runCommand } from './commands.ts';
import { errorFrame, frame, frameOf, type Place, refusalFrame } from './messages.ts';
import type { SocketHost, SocketRooms } from './rooms.ts';
import { readState, STATE_ROWS } from './state.ts';
import { failureFrame } from './subscription.ts';

/** The sender of a request. */
export interface Asker {
  readonly caller: Caller;
  send(text: string): void;
  placeOf(host: SocketHost, id: MessageId | undefined): Place;
}

type Requested = Exclude<SocketRequest, { op: 'ping' | 'subscribe' | 'unsubscribe' }>;

/** Rejects only when something is broken. */
export async function answerRequest(
  rooms: SocketRooms,
  asker: Asker,
  host: SocketHost,
  request: Requested,
): Promise<void> {
  const place = asker.placeOf(host, request.id);
  const run = (group: Group, action: string, params: Params) =>
    runCommand(rooms, asker, host.id, { group, action, params }, place);
  switch (request.op) {
    case 'get':
      return await get(rooms, asker, host, request.data, place);
    case 'process_list':
    case 'process_details':
    case 'history':
    case 'process_history':
      return asker.send(await answerOf(rooms, asker, host.id, request, place));
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
  }
}

/** One event per topic, in the order of the names. */
async function get(
  rooms: SocketRooms,
  asker: Asker,
  host: SocketHost,
  { topics, detail }: OpData<'get'>,
  place: Place,
): Promise<void> {
  for (const name of new Set(topics)) {
    const topic = topicOf(name);
    if (topic === undefined || topic.states === EVENTS_BIT) {
      const text = topic === undefined ? 'There is no such topic.' : 'The op history has past events.';
      asker.send(errorFrame('INVALID_DATA', text, place, { topic: name }));
    } else if (topic.sections !== 0) {
      const view = viewOf(topic.sections, detail);
      asker.send(await statsOf(rooms, asker, host, view, name, place));
    } else
      for (const state of TOPIC_NAMES)
        if ((topic.states & bitOf(state)) !== 0) asker.send(await stateOf(rooms, host, state, detail, place));
  }
}

async function statsOf(
  rooms: SocketRooms,
  { caller }: Asker,
  host: SocketHost,
  view: View,
  topic: string,
  place: Place,
): Promise<string> {
  try {
    return frameOf('system_stats', await rooms.usage(host.id, view, caller), place);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const named = new ServiceError(error.code, error.message, { ...error.details, topic });
    return refusalFrame(named, place) ?? errorFrame('HOST_UNREACHABLE', error.message, place, { topic });
  }
}

async function stateOf(
  rooms: SocketRooms,
  host: SocketHost,
  name: keyof typeof STATE_ROWS,
  detail: boolean,
  place: Place,
): Promise<string> {
  try {
    return frameOf(STATE_ROWS[name].event, await readState(rooms, host, name, detail), place);
  } catch (error) {
    return failureFrame(name, error, place);
  }
}

type Question = Extract<
  SocketRequest,
  { op: 'process_list' | 'process_details' | 'history' | 'process_history' }
>;

/** What each op asks, and the action in the feedback when it fails; without one a failure is an error. */
const QUESTIONS: Readonly<Record<Question['op'], { readonly what: string; readonly action?: string }>> = {
  process_list: { what: 'processes', action: 'list' },
  process_details: { what: 'process', action: 'details' },
  history: { what: 'history' },
  process_history: { what: 'process_history' },
};

async function answerOf(
  rooms: SocketRooms,
  asker: Asker,
  id: string,
  { op, data }: Question,
  place: Place,
): Promise<string> {
  const { what, action } = QUESTIONS[op];
  try {
    return frameOf(op, (await rooms.ask(id, what, data, asker.caller)).bytes, place);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const failure = action === undefined ? undefined : failureOf(action, error);
    const refusal = refusalFrame(error, place);
    if (refusal !== undefined) return refusal;
    // Too many different questions about the history.
    if (failure === undefined) return errorFrame('RATE_LIMITED', error.message, place);
    return frame('process_feedback', failure, place);
  }
}
