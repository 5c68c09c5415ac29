/** The surface as a table: one row a path, one cell a method. */
import type { AccessRequest } from '../access/request.ts';
import type { Config } from '../config/schema.ts';
import type { Headers } from './reply.ts';
import type { Answer, Exchange } from './uws/exchange.ts';

/** A request that passed the gate, for a handler. */
export interface Request {
  readonly exchange: Exchange;
  readonly query: URLSearchParams;
  /** Headers that every answer to this request carries (CORS). */
  readonly headers: Headers;
  /** Who asks: what the gate found out, for judging a stream again after a reload. */
  readonly client: AccessRequest;
  /** The body: empty where the route ignores it. */
  readonly body: Buffer;
}

export interface Endpoint {
  /** 'json': checked for its type. 'ignored': read to its end, whatever it is. Without it a body is not waited for. */
  readonly body?: 'json' | 'ignored';
  /** Off: 403 `feature_disabled`. */
  readonly feature?: keyof Config['features'];
  /** The answer, or undefined when the handler took the exchange over (a stream). Throws ServiceError. */
  readonly run: (request: Request) => Answer | undefined | Promise<Answer | undefined>;
}

export type Method = 'GET' | 'POST';

export interface Route {
  /** Compared byte for byte with the raw path. `/*` at the end stands for one last part, which is not empty. */
  readonly path: string;
  readonly methods: Readonly<Partial<Record<Method, Endpoint>>>;
}

/** What a 405 names: HEAD goes wherever GET does. */
export function allowedMethods(route: Route): string {
  const methods = Object.keys(route.methods);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
}

/** The path of the route that takes any last part in the place of that of `path`. */
export function wildcardOf(path: string): string | undefined {
  const slash = path.lastIndexOf('/');
  return slash === path.length - 1 ? undefined : `${path.slice(0, slash)}/*`;
}
