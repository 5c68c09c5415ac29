/** Answers the requests of WebSockets about one machine other than subscriptions: topics once, questions, commands. */
import type { Clock } from '../../clock.ts';
import { auditRefusal } from '../../commands/audit.ts';
import type { Step } from '../../commands/command.ts';
import { ServiceError, scopeRequired } from '../../errors.ts';
import { QUOTAS } from '../../fairness/limits.ts';
import type { Gate } from '../../http/gate.ts';
import type { Log } from '../../log/log.ts';
import { type Machine, type MachineAnswer, textOf } from '../../machine/machine.ts';
import { type NamedRequest, paramsFor, REQUESTS, requestOfMessage, scopeOf } from '../../machine/requests.ts';
import type { Params } from '../../params.ts';
import { allows, type Scope } from '../../scopes.ts';
import { viewOf } from '../../stats/view.ts';
import type { OpData, SocketRequest } from '../../wire/socket.ts';
import { failureOf } from './feedback.ts';
import { errorFrame, frame, frameOf, type Place, refusalFrame } from './messages.ts';
import { type Requester, runCommand, shownError } from './socket-commands.ts';
import { topicFailureFrame } from './subscription.ts';
import { readTopic } from './topic-state.ts';
import { bitOf, EVENTS_BIT, TOPIC_NAMES, TOPIC_ROWS, topicOf, topicScopeOf } from './topics.ts';

interface RequestDeps {
  readonly log: Pick<Log, 'error' | 'audit'>;
  readonly gate: Pick<Gate, 'noteRefusal'>;
  readonly clock: Pick<Clock, 'sinceBoot'>;
}

/** Rejects only when something is broken. */
export async function answerRequest(
  machine: Machine,
  requester: Requester,
  request: SocketRequest,
  place: Place,
  { log, gate, clock }: RequestDeps,
): Promise<void> {
  const { op, deadline } = request;
  const { caller } = requester;
  const asked = requestOfMessage(request);
  if (deadline !== undefined && clock.sinceBoot() > deadline) {
    if (asked?.what.includes('.')) auditRefusal(log, { name: asked.what, caller }, 'late');
    requester.send(errorFrame('LATE', 'The deadline has passed; it was not carried out.', place));
    return;
  }
  if (op === 'get') return await get(machine, requester, request.data, place);
  if (asked === undefined) throw new Error(`${op} is not answered here`);
  if (op === 'request') return await answerWhole(machine, requester, request.data, place, { log, gate });
  const needed = scopeOf(asked.what);
  const refusal = refusalOf(requester, needed, place);
  if (refusal !== undefined) {
    gate.noteRefusal('scope_required', caller.address);
    if (asked.what.includes('.')) auditRefusal(log, { name: needed, caller }, 'scope_required');
    requester.send(refusal);
    return;
  }
  if (asked.what.includes('.')) await runCommand(machine, requester, asked, place, log);
  else requester.send(await answerOf(machine, requester, op, asked, place));
}

/** Answers as HTTP does, with the code and the details of an error; a command that goes on is followed by its steps. */
async function answerWhole(
  machine: Machine,
  requester: Requester,
  { name: what, params, steps }: OpData<'request'>,
  place: Place,
  { log, gate }: Pick<RequestDeps, 'log' | 'gate'>,
): Promise<void> {
  const { caller } = requester;
  const isCommand = what.includes('.');
  const onStep = ({ stage, message, onDelivered }: Step) => {
    // The answer says it; the action begins when that has left.
    if (stage === 'accepted') accepted = onDelivered;
    else requester.send(frame('step', { stage, message }, place));
  };
  let accepted: Step['onDelivered'];
  try {
    const needed = scopeOf(what);
    if (!allows(caller.scopes, needed)) {
      gate.noteRefusal('scope_required', caller.address);
      if (isCommand) auditRefusal(log, { name: needed, caller }, 'scope_required');
      throw scopeRequired(needed);
    }
    const follower = { owner: requester.owner, onStep, withBeginning: steps };
    const asked = { what, params: paramsFor({ what, params }, caller.scopes), client: caller };
    const answer = await machine.ask(isCommand ? { ...asked, follower } : asked);
    const onDelivered = accepted ?? answer.onDelivered;
    const text = answerFrame(answer, place);
    // The other end would take it for a flood.
    if (Buffer.byteLength(text) > QUOTAS.machineFrame.maxBytes) throw tooLong();
    if (onDelivered === undefined) requester.send(text);
    else requester.sendTracked(text, onDelivered);
  } catch (error) {
    const { code, message, details } = shownError(what, error, log);
    requester.send(frame('answer', { error: { code, message, ...(details && { details }) } }, place));
  }
}

const tooLong = () =>
  new ServiceError(
    'payload_too_large',
    `The answer has more than ${QUOTAS.machineFrame.maxBytes / 2 ** 20} MiB.`,
  );

function answerFrame(answer: MachineAnswer, place: Place): string {
  const { type, bytes, etag, delivered, isFollowed } = answer;
  const aside = {
    ...(etag !== undefined && { etag }),
    ...(delivered !== undefined && { delivered }),
    ...(isFollowed && { follows: true }),
  };
  if (type !== undefined && type !== 'application/json')
    return frame('answer', { type, base64: Buffer.from(bytes).toString('base64'), ...aside }, place);
  const more = JSON.stringify(aside).slice(1);
  return frameOf('answer', `{"body":${textOf(answer)}${more === '}' ? '' : ','}${more}`, place);
}

/** The message that the client may not do that; undefined: it may. */
export function refusalOf(
  { caller }: Pick<Requester, 'caller'>,
  needed: Scope,
  place: Place,
  details: Readonly<Record<string, unknown>> = {},
): string | undefined {
  if (allows(caller.scopes, needed)) return undefined;
  return errorFrame('FORBIDDEN', scopeRequired(needed).message, place, { ...details, scope: needed });
}

/** What `get` returns beside topics, with the parameters of each in the table of requests. */
const ONCE = new Map<string, (data: Omit<OpData<'get'>, 'topics'>) => Params>([
  ['system', ({ detail }) => ({ detail })],
  ['art', ({ player }) => (player === undefined ? {} : { player })],
]);

/** One event per topic, in the order of the names. */
async function get(
  machine: Machine,
  requester: Requester,
  { topics, detail, player }: OpData<'get'>,
  place: Place,
): Promise<void> {
  for (const name of new Set(topics)) {
    const question = ONCE.get(name);
    if (question !== undefined) {
      const asked = { what: name, params: question({ detail, player }) };
      requester.send(
        refusalOf(requester, scopeOf(name), place, { topic: name }) ??
          (await answerOf(machine, requester, name, asked, place)),
      );
      continue;
    }
    const topic = topicOf(name);
    if (topic === undefined || topic.states === EVENTS_BIT) {
      const text = topic === undefined ? 'There is no such topic.' : 'The op history has past events.';
      requester.send(errorFrame('INVALID_DATA', text, place, { topic: name }));
    } else if (topic.sections !== 0)
      requester.send(
        refusalOf(requester, 'read', place, { topic: name }) ??
          (await statsOf(machine, requester, topic.sections, detail, name, place)),
      );
    else
      for (const state of TOPIC_NAMES)
        if ((topic.states & bitOf(state)) !== 0)
          requester.send(
            refusalOf(requester, topicScopeOf(state), place, { topic: name }) ??
              (await stateOf(machine, state, detail, place)),
          );
  }
}

async function statsOf(
  machine: Machine,
  { caller }: Requester,
  sections: number,
  detail: boolean,
  topic: string,
  place: Place,
): Promise<string> {
  try {
    return frameOf('system_stats', await machine.usage(viewOf(sections, detail), caller), place);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const named = new ServiceError(error.code, error.message, { ...error.details, topic });
    return refusalFrame(named, place) ?? errorFrame('HOST_UNREACHABLE', error.message, place, { topic });
  }
}

async function stateOf(
  machine: Machine,
  name: keyof typeof TOPIC_ROWS,
  detail: boolean,
  place: Place,
): Promise<string> {
  try {
    return frameOf(TOPIC_ROWS[name].event, await readTopic(machine, name, detail), place);
  } catch (error) {
    return topicFailureFrame(name, error, place);
  }
}

async function answerOf(
  machine: Machine,
  { caller }: Requester,
  op: string,
  asked: NamedRequest,
  place: Place,
): Promise<string> {
  try {
    const params = paramsFor(asked, caller.scopes);
    const answer = await machine.ask({ ...asked, params, client: caller });
    const { type, bytes } = answer;
    if (type === undefined || type === 'application/json') return frameOf(op, textOf(answer), place);
    return frame(op, { type, base64: Buffer.from(bytes).toString('base64') }, place);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const refusal = refusalFrame(error, place);
    if (refusal !== undefined) return refusal;
    const failure = REQUESTS.get(asked.what)?.failure;
    // Too many different questions about the history.
    if (failure === undefined) return errorFrame('RATE_LIMITED', error.message, place);
    return frame(`${failure.group}_feedback`, failureOf(failure.action, error) ?? {}, place);
  }
}
