/** The routes: a row of the table of operations with its `run`, by path and method. */

import type { Caller } from '../access/caller.ts';
import type { Config } from '../config/config.ts';
import type { Method, Operation } from '../wire/operations.ts';
import type { Exchange } from './engine.ts';
import type { Answer } from './head.ts';
import type { Headers } from './reply.ts';

/** A request that passed the gate, for a handler. */
export interface Request {
  readonly exchange: Exchange;
  readonly query: URLSearchParams;
  /** Headers that every answer to this request carries (CORS). */
  readonly headers: Headers;
  /** The client as the gate saw it, for judging a stream again after a reload. */
  readonly client: Caller;
  /** The body: empty where the route ignores it. */
  readonly body: Buffer;
}

/** Returns the answer, or undefined when it took the exchange over (a stream). Throws ServiceError. */
export type Run = (request: Request) => Answer | undefined | Promise<Answer | undefined>;

/** The handlers of these operations. */
export type Runs<Ids extends string> = Readonly<Record<Ids, Run>>;

/** The steps of the pipeline before `run`, by the row of the operation. */
export interface Endpoint {
  readonly body?: Operation['body'] | undefined;
  readonly feature?: keyof Config['features'] | undefined;
  readonly scope?: Operation['scope'] | undefined;
  readonly needsKey?: true | undefined;
  readonly staysOpen?: true | undefined;
  readonly run: Run;
}

export interface Route {
  /** Compared byte for byte with the raw path. A part `*` stands for any that is not empty. */
  readonly path: string;
  readonly methods: Readonly<Partial<Record<Method, Endpoint>>>;
}

/** A table of operations; the compiler refuses a row whose flag is not in the configuration. */
type Operations<Ids extends string> = Readonly<Record<Ids, Operation<keyof Config['features']>>>;

/** The routes of a table of operations. */
export function routesOfTable<Ids extends string>(table: Operations<Ids>, runs: Runs<Ids>): readonly Route[] {
  const methodsByPath = new Map<string, Route['methods']>();
  // The table's own keys are exactly the ids.
  for (const id of Object.keys(table) as Ids[]) {
    const { method, path, body, feature, scope, needsKey, staysOpen } = table[id];
    // The flag of a command is judged with it (machine/commands.ts), whichever way it comes.
    const flag = method === 'POST' ? undefined : feature;
    const endpoint = { body, feature: flag, scope, needsKey, staysOpen, run: runs[id] };
    methodsByPath.set(path, { ...methodsByPath.get(path), [method]: endpoint });
  }
  return [...methodsByPath].map(([path, methods]) => ({ path, methods }));
}

/** The methods that a 405 names: HEAD goes wherever GET does. */
export function allowedMethods(route: Route): string {
  const methods = Object.keys(route.methods);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
}

/** A route with a `*`, by its parts. */
interface Pattern {
  readonly parts: readonly string[];
  readonly stars: number;
  readonly route: Route;
}

function patternOf(route: Route): Pattern {
  const parts = route.path.split('/');
  return { parts, stars: parts.filter((part) => part === '*').length, route };
}

/** Finds the route of a path: one without `*` before others, then one with fewer. */
export class RouteTable {
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #patterns: readonly Pattern[];

  constructor(routes: readonly Route[]) {
    this.#routes = new Map(routes.map((route) => [route.path, route]));
    this.#patterns = routes
      .map(patternOf)
      .filter(({ stars }) => stars > 0)
      .sort((a, b) => a.stars - b.stars);
  }

  find(path: string): Route | undefined {
    return this.#routes.get(path) ?? this.#match(path.split('/'));
  }

  #match(given: readonly string[]): Route | undefined {
    return this.#patterns.find(
      ({ parts }) =>
        parts.length === given.length &&
        parts.every((part, i) => (part === '*' ? given[i] !== '' : part === given[i])),
    )?.route;
  }
}
