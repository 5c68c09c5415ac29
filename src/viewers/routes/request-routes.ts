/** The routes of the table of requests: /api/… of a service, and /api/hosts/{id}/… of a hub. */
import { ServiceError } from '../../errors.ts';
import { parseJsonObject } from '../../http/body.ts';
import { compressed } from '../../http/compress.ts';
import { taggedJson } from '../../http/etag.ts';
import type { Answer } from '../../http/head.ts';
import { type Headers, jsonTextAnswer, statusLine } from '../../http/reply.ts';
import type { Request, Run, Runs } from '../../http/routes.ts';
import type { Machine, MachineAnswer } from '../../machine/machine.ts';
import {
  type HttpRequest,
  mediaCommandIn,
  type NamedRequest,
  paramsFor,
  REQUESTS,
  type RequestRow,
} from '../../machine/requests.ts';
import { parseView, type View } from '../../stats/view.ts';
import { OPERATIONS, type Operation, type OperationId } from '../../wire/operations.ts';

/** The operations of the table. */
export type RequestOperationId = Exclude<
  OperationId,
  | 'openStream'
  | 'openSocket'
  | 'muteEvents'
  | 'getStatus'
  | 'listKeys'
  | 'getAccess'
  | 'getOpenapi'
  | 'getMetrics'
>;

/** Returns the machine of a request. Throws `not_found`. */
export type MachineOf = (request: Request) => Machine;

/** The view that a query asks for, with the header that names what is unknown in it. */
export function viewOfRequest({ query, headers }: Request): {
  readonly view: View;
  readonly headers: Headers;
} {
  const { view, ignored } = parseView(query.getAll('fields'), query.get('detail'));
  const extra: Headers = ignored.length === 0 ? [] : [['X-Ignored-Fields', ignored.join(', ')]];
  return { view, headers: [...extra, ...headers] };
}

export function requestRuns(machineOf: MachineOf): Runs<RequestOperationId> {
  const rows = [...REQUESTS.values()].map((row) => [row.operation, runOf(row, machineOf)] as const);
  const runs = new Map<OperationId, Run>(rows);
  runs.set('getUsage', async (request) => {
    const { view, headers } = viewOfRequest(request);
    return jsonTextAnswer(await machineOf(request).usage(view, request.client), headers);
  });
  // The table has a row for each; Object.fromEntries cannot express that.
  return Object.fromEntries(runs) as Runs<RequestOperationId>;
}

function runOf(row: RequestRow, machineOf: MachineOf): Run {
  if (row.isCommand) return (request) => runCommand(row, machineOf(request), request);
  return async (request) => {
    const asked = { what: row.name, params: row.paramsIn(sourceOf(request)) };
    const answer = await (row.name === 'process' ? askForProcess : ask)(machineOf(request), asked, request);
    return await answerOf(answer, request);
  };
}

async function runCommand(row: RequestRow, machine: Machine, request: Request): Promise<Answer | undefined> {
  const isMedia = row.operation === 'controlMedia';
  const { body }: Operation = OPERATIONS[row.operation];
  // Before the body is parsed, as the flag of every endpoint is.
  if (body === 'json') machine.check(isMedia ? 'media.' : row.name, request.client);
  const params = row.paramsIn(sourceOf(request));
  const command = isMedia ? mediaCommandIn(params) : { what: row.name, params };
  const answer = await ask(machine, command, request);
  const reply = await answerOf(answer, request);
  if (answer.onDelivered === undefined) return reply;
  request.exchange.answerAndClose(reply, answer.onDelivered);
  return undefined;
}

async function ask(machine: Machine, asked: NamedRequest, { client }: Request): Promise<MachineAnswer> {
  return await machine.ask({ ...asked, params: paramsFor(asked, client.scopes), client });
}

/** A number is a pid, unless a process has it as its name. */
async function askForProcess(
  machine: Machine,
  asked: NamedRequest,
  request: Request,
): Promise<MachineAnswer> {
  try {
    return await ask(machine, asked, request);
  } catch (error) {
    const isUnknown = error instanceof ServiceError && error.code === 'process_not_found';
    const { name } = asked.params;
    if (!isUnknown || typeof name !== 'string' || !/^\d{1,10}$/.test(name)) throw error;
    return await ask(machine, { what: asked.what, params: { pid: Number(name) } }, request);
  }
}

const sourceOf = ({ query, body, exchange }: Request): HttpRequest => ({
  query,
  name: () => decode(exchange.head.path.slice(exchange.head.path.lastIndexOf('/') + 1)),
  body: () => parseJsonObject(body),
});

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ServiceError('invalid_value', 'The name is not percent-encoded UTF-8.');
  }
}

async function answerOf(answer: MachineAnswer, request: Request): Promise<Answer> {
  const { headers } = request;
  const { type = '', bytes, etag, delivered } = answer;
  if (type.startsWith('image/')) return pictureAnswer(type, bytes, headers);
  if (etag !== undefined)
    return await compressed(taggedJson(bytes, etag, request), request.exchange.head.headers);
  const extra: Headers = delivered === undefined ? [] : [['X-Media-Delivered', delivered]];
  return jsonTextAnswer(bytes, [...extra, ...headers]);
}

const pictureAnswer = (type: string, body: Buffer | string, headers: Headers): Answer => ({
  status: statusLine(200),
  headers: [
    ['Content-Type', type],
    ['Cache-Control', 'no-store'],
    ['Content-Security-Policy', "default-src 'none'; sandbox"],
    ...headers,
  ],
  body,
});
