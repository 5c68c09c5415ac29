/** The way of a request: gate, route, method, framing, size, type, flag, then its handler; errors become answers. */
import type { Config } from '../config/schema.ts';
import { ServiceError } from '../errors.ts';
import type { Log } from '../log.ts';
import { checkFraming, checkJsonType, MOST_BODY_BYTES, readBody } from './body.ts';
import { emptyAnswer, errorAnswer, featureDisabledAnswer, type Headers } from './reply.ts';
import { allowedMethods, type Endpoint, type Method, type Request, type Route } from './routes.ts';
import type { Answer, Exchange, RequestHead } from './server.ts';

/** What the gate says of a request, before anything is routed. */
export type Verdict =
  | { readonly isAllowed: true; readonly headers: Headers; readonly client: unknown }
  | { readonly isAllowed: false; readonly answer: Answer };

export interface PipelineOptions {
  readonly gate: (head: RequestHead) => Verdict;
  readonly routes: readonly Route[];
  readonly features: () => Config['features'];
  readonly log: Log;
}

const NO_BODY = Buffer.alloc(0);

export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #routes: ReadonlyMap<string, Route>;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#routes = new Map(options.routes.map((route) => [route.path, route]));
  }

  /** Answers `exchange`, now or later. Never throws. */
  handle(exchange: Exchange): void {
    const verdict = this.#options.gate(exchange.head);
    if (!verdict.isAllowed) {
      exchange.answer(verdict.answer);
      return;
    }
    const { headers, client } = verdict;
    try {
      const answer = this.#route(exchange, headers, client);
      if (answer instanceof Promise)
        answer.then(
          (a) => a && exchange.answer(a),
          (error) => this.#fail(exchange, error, headers),
        );
      else if (answer !== undefined) exchange.answer(answer);
    } catch (error) {
      this.#fail(exchange, error, headers);
    }
  }

  #route(
    exchange: Exchange,
    headers: Headers,
    client: unknown,
  ): Answer | undefined | Promise<Answer | undefined> {
    const { head } = exchange;
    const route = this.#routes.get(head.path);
    if (route === undefined) throw new ServiceError('not_found', 'There is nothing at this path.');
    const allow = allowedMethods(route);
    if (head.method === 'OPTIONS') return emptyAnswer([['Allow', `${allow}, OPTIONS`], ...headers]);
    const endpoint = endpointOf(route, head.method);
    if (endpoint === undefined) {
      const error = new ServiceError('method_not_allowed', `The methods understood here are ${allow}.`);
      return errorAnswer(error, [['Allow', allow], ...headers]);
    }
    checkFraming(head.headers);
    const request = { exchange, query: new URLSearchParams(head.query), headers, client, body: NO_BODY };
    if (endpoint.body === undefined) return this.#run(endpoint, request);
    return this.#runWithBody(endpoint, request);
  }

  // The flag is judged after the body, so that a refused client has sent all of it and can read the answer.
  async #runWithBody(endpoint: Endpoint, request: Request): Promise<Answer | undefined> {
    const { exchange, headers } = request;
    const announced = Number(exchange.head.headers.get('content-length')?.[0] ?? 0);
    const body = await readBody(exchange);
    // Nothing acts before the whole body has arrived: one that is not read to its end is refused everywhere.
    const isCutOff = body.isTooLarge && !body.isDrained;
    if (isCutOff || (endpoint.body === 'json' && (body.isTooLarge || announced > MOST_BODY_BYTES))) {
      const error = new ServiceError(
        'payload_too_large',
        `A body may have at most ${MOST_BODY_BYTES} bytes.`,
      );
      return { ...errorAnswer(error, headers), isLast: isCutOff };
    }
    if (endpoint.body === 'json') checkJsonType(exchange.head.headers);
    return await this.#run(endpoint, { ...request, body: body.isTooLarge ? NO_BODY : body.bytes });
  }

  #run(endpoint: Endpoint, request: Request): Answer | undefined | Promise<Answer | undefined> {
    if (endpoint.feature !== undefined && !this.#options.features()[endpoint.feature])
      return featureDisabledAnswer(request.headers);
    return endpoint.run(request);
  }

  #fail(exchange: Exchange, error: unknown, headers: Headers): void {
    if (error instanceof ServiceError) {
      exchange.answer(errorAnswer(error, headers));
      return;
    }
    this.#options.log.error(
      `${exchange.head.method} ${exchange.head.path} failed: ${error instanceof Error ? error.stack : String(error)}`,
    );
    exchange.answer(
      errorAnswer(
        new ServiceError('internal_error', 'The service failed to answer; its log says why.'),
        headers,
      ),
    );
  }
}

function endpointOf(route: Route, method: string): Endpoint | undefined {
  const known = method === 'HEAD' ? 'GET' : method;
  // Only own keys: a method named like something on Object.prototype is none of ours.
  return Object.hasOwn(route.methods, known) ? route.methods[known as Method] : undefined;
}
