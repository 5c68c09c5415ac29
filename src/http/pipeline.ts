/** The path of a request: gate, route, method, framing, size, type, flag, then its handler; errors become answers. */

import type { Caller } from '../access/caller.ts';
import { auditRefusal } from '../commands/audit.ts';
import type { CurrentConfig } from '../config/current.ts';
import { featureDisabled, ServiceError, scopeRequired, stackOf } from '../errors.ts';
import { QUOTAS } from '../fairness/limits.ts';
import { limitsPerAddress, Places } from '../fairness/places.ts';
import type { Log } from '../log/log.ts';
import { allows } from '../scopes.ts';
import type { Method } from '../wire/operations.ts';
import { type Body, checkJsonType, type Framing, readBody, readFraming } from './body.ts';
import type { Exchange } from './engine.ts';
import type { Gate } from './gate.ts';
import type { Answer } from './head.ts';
import { bareAnswer, emptyAnswer, errorAnswer, type Headers } from './reply.ts';
import { allowedMethods, type Endpoint, type Request, type Route, RouteTable } from './routes.ts';

export interface PipelineOptions {
  readonly gate: Pick<Gate, 'judge' | 'noteRefusal'>;
  readonly routes: readonly Route[];
  readonly config: CurrentConfig;
  /** The service is shutting down: admitted requests are answered with 503, and their connections closed. */
  readonly isStopping: () => boolean;
  readonly log: Log;
}

/** A request in progress. */
interface Passage {
  readonly exchange: Exchange;
  readonly framing: Framing;
  /** The body, once it is being read. */
  body?: Promise<Body | undefined>;
}

type Outcome = Answer | undefined | Promise<Answer | undefined>;

const NO_BODY = Buffer.alloc(0);
const TAKES_NO_BODY = new ServiceError('bad_request', 'This request takes no body.');
const NO_HEADERS: Headers = [];

export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #routes: RouteTable;
  /** Requests without the key that wait for their answer. */
  readonly #waiting: Places;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#routes = new RouteTable(options.routes);
    this.#waiting = new Places(() =>
      limitsPerAddress(Number.POSITIVE_INFINITY, options.config.current.server.max_requests_per_address),
    );
  }

  /** Answers `exchange`, now or later. Never throws. */
  handle(exchange: Exchange): void {
    const passage: Passage = { exchange, framing: readFraming(exchange.head) };
    let headers = NO_HEADERS;
    try {
      const verdict = this.#options.gate.judge(exchange.head);
      if (!verdict.isAllowed) {
        send(passage, verdict.answer);
        return;
      }
      headers = verdict.headers;
      exchange.address = verdict.client.address;
      const outcome = this.#route(passage, headers, verdict.client);
      if (!(outcome instanceof Promise)) send(passage, outcome);
      else
        outcome
          .then((answer) => send(passage, answer))
          .catch((error: unknown) => this.#fail(passage, error, headers));
    } catch (error) {
      this.#fail(passage, error, headers);
    }
  }

  #route(passage: Passage, headers: Headers, client: Caller): Outcome {
    const { exchange, framing } = passage;
    const { head } = exchange;
    if (this.#options.isStopping()) {
      const error = new ServiceError('shutting_down', 'The service is shutting down.');
      return { ...errorAnswer(error, headers), isLast: true };
    }
    const route = this.#routes.find(head.path);
    if (route === undefined) throw new ServiceError('not_found', 'There is nothing at this path.');
    const allow = allowedMethods(route);
    const endpoint = endpointOf(route, head.method);
    if (endpoint === undefined && head.method !== 'OPTIONS') {
      const error = new ServiceError('method_not_allowed', `This path takes ${allow}.`);
      return errorAnswer(error, [['Allow', allow], ...headers]);
    }
    if (framing.error !== undefined) throw framing.error;
    if (endpoint === undefined) return emptyAnswer([['Allow', `${allow}, OPTIONS`], ...headers]);
    const { scope, needsKey } = endpoint;
    if (needsKey && client.key === undefined) return bareAnswer(401, headers);
    if (scope !== undefined && !allows(client.scopes, scope)) {
      if (head.method === 'POST')
        auditRefusal(this.#options.log, { name: scope, caller: client }, 'scope_required');
      throw scopeRequired(scope);
    }
    if (framing.isChunked && endpoint.staysOpen)
      throw new ServiceError('bad_request', 'A stream takes no body.');
    const query = new URLSearchParams(head.query);
    const request = { exchange, query, headers, client, body: NO_BODY };
    if (client.isKeyed || endpoint.staysOpen) return this.#begin(passage, endpoint, request);
    return this.#counted(client, () => this.#begin(passage, endpoint, request));
  }

  /** Refuses a request where too many of its address wait for their answer, and counts it while it waits itself. */
  #counted(client: Caller, begin: () => Outcome): Outcome {
    if (!this.#waiting.hasCapacity(client))
      throw new ServiceError('too_many_requests', 'Too many requests of this address wait for their answer.');
    const outcome = begin();
    if (!(outcome instanceof Promise)) return outcome;
    this.#waiting.add(client);
    return outcome.finally(() => this.#waiting.remove(client));
  }

  #begin(passage: Passage, endpoint: Endpoint, request: Request): Outcome {
    if (endpoint.body === undefined) return this.#run(endpoint, request);
    const maxBytes = endpoint.body === 'json' ? QUOTAS.body.maxBytes : QUOTAS.drainedBody.maxBytes;
    if (passage.framing.announcedBytes > maxBytes) return tooLarge(request, maxBytes);
    passage.body = this.#readBody(passage);
    return this.#runWithBody(endpoint, request, passage.body);
  }

  #readBody({ exchange, framing }: Passage): Promise<Body | undefined> {
    const { method, path } = exchange.head;
    return readBody(exchange, framing, (reason) =>
      this.#options.log.warn(`${method} ${path}: connection cut, the body ${reason}`, {
        address: exchange.address,
      }),
    );
  }

  // The flag is judged after the body was read, so that a refused client has sent all of it and can read the answer.
  async #runWithBody(
    endpoint: Endpoint,
    request: Request,
    arriving: Promise<Body | undefined>,
  ): Promise<Answer | undefined> {
    const body = await arriving;
    if (body === undefined) return undefined;
    // Again: reading a body may take long, and the rules may have changed since.
    const verdict = this.#options.gate.judge(request.exchange.head);
    if (!verdict.isAllowed) return verdict.answer;
    if (endpoint.body === 'json') {
      if (body.isTooLarge) return tooLarge(request, QUOTAS.body.maxBytes);
      checkJsonType(request.exchange.head.headers);
    } else if (body.isTooLarge && !body.isDrained) return tooLarge(request, QUOTAS.drainedBody.maxBytes);
    return await this.#run(endpoint, { ...request, body: body.isTooLarge ? NO_BODY : body.bytes });
  }

  #run(endpoint: Endpoint, request: Request): Outcome {
    if (endpoint.feature !== undefined && !this.#options.config.current.features[endpoint.feature])
      throw featureDisabled(endpoint.feature);
    return endpoint.run(request);
  }

  #fail(passage: Passage, error: unknown, headers: Headers): void {
    if (error instanceof ServiceError) {
      this.#options.gate.noteRefusal(error.code, passage.exchange.address);
      send(passage, errorAnswer(error, headers));
      return;
    }
    const { method, path } = passage.exchange.head;
    const { address } = passage.exchange;
    this.#options.log.error(`${method} ${path} failed: ${stackOf(error)}`, { address });
    const sentence = 'The service failed to answer; see its log.';
    send(passage, errorAnswer(new ServiceError('internal_error', sentence), headers));
  }
}

/** A chunked body that is being read is read to its end first, so that the client can read the answer. */
function send({ exchange, framing, body }: Passage, answer: Answer | undefined): void {
  if (answer === undefined) return;
  if (!framing.endsConnection) {
    exchange.answer(answer);
    return;
  }
  if (body !== undefined) {
    void body.then(() => exchange.answer({ ...answer, isLast: true }));
    return;
  }
  // uWebSockets.js keeps a copy of a last answer for a peer that does not read. Only a question takes no body, so nothing
  // was done that this would hide.
  const isLong = (answer.body?.length ?? 0) > QUOTAS.lastAnswer.maxBytes;
  exchange.answer({ ...(isLong ? errorAnswer(TAKES_NO_BODY) : answer), isLast: true });
}

function tooLarge(request: Request, maxBytes: number): Answer {
  const error = new ServiceError('payload_too_large', `A body may have at most ${maxBytes} bytes.`);
  return errorAnswer(error, request.headers);
}

function endpointOf(route: Route, method: string): Endpoint | undefined {
  const known = method === 'HEAD' ? 'GET' : method;
  // Only own keys: a method may be named like a property of Object.prototype.
  return Object.hasOwn(route.methods, known) ? route.methods[known as Method] : undefined;
}
