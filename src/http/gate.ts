/** The one gate for HTTP and WebSocket: judges requests before they are routed, and open streams after a reload. */
import { createHash } from 'node:crypto';
import { matches, parsePeer } from '../access/addresses.ts';
import type { Caller } from '../access/caller.ts';
import { condense } from '../access/condense.ts';
import { type AccessPolicy, compileAccess, decideAccess, isPathJudged } from '../access/decide.ts';
import { exposureWarning } from '../access/exposure.ts';
import type { KeyUses } from '../access/key-uses.ts';
import { corsHeaders } from '../access/origins.ts';
import { RefusalLog, WrongKeys } from '../access/refusals.ts';
import { ACCESS_HEADERS, type AccessRequest, type Decision } from '../access/request.ts';
import type { Config } from '../config/config.ts';
import { ServiceError } from '../errors.ts';
import { QUOTAS } from '../fairness/limits.ts';
import type { Log } from '../log/log.ts';
import { covers } from '../scopes.ts';
import { OPERATIONS } from '../wire/operations.ts';
import { type Answer, matchesPath, type RequestHead } from './head.ts';
import { bareAnswer, emptyAnswer, errorAnswer, type Headers } from './reply.ts';

/** The gate's decision on a request. `client` is for `passes`. */
export type GateVerdict =
  | { readonly isAllowed: true; readonly headers: Headers; readonly client: Caller }
  | { readonly isAllowed: false; readonly answer: Answer };

/** The request headers that the gate reads, in lower case. */
export const GATE_HEADERS: readonly string[] = [...ACCESS_HEADERS, 'upgrade'];

/** Where the service can be asked for a WebSocket. */
export const SOCKET_PATHS: readonly string[] = [OPERATIONS.openSocket.path];

/** The settings whose limits refuse clients, by error code. */
const LIMITS: Readonly<Record<string, string>> = {
  too_many_connections: 'server.max_connections_per_address',
  too_many_requests: 'server.max_requests_per_address',
  too_many_streams: 'server.max_streams or server.max_streams_per_address',
};

/** The reasons of refusals that have a status only; the others have a code. */
const REASON_OF = { 400: 'bad_request', 401: 'unauthorized', 403: 'address' } as const;

export interface GateOptions {
  readonly config: Config;
  readonly machineNames: readonly string[];
  /** The raw paths of the dashboard's files. */
  readonly dashboardPaths?: readonly string[];
  /** Where a WebSocket may be asked for, as paths of routes: the key may be in the query there. Default: that of the service. */
  readonly socketPaths?: readonly string[] | undefined;
  /** Raw paths whose callers prove themselves in another way than with the key. */
  readonly provenPaths?: readonly string[];
  /** The warning of a configuration that is open to the network. Default: that of the service. */
  readonly exposure?: ((config: Config) => string | undefined) | undefined;
  /** Notes the uses of keys. */
  readonly uses?: Pick<KeyUses, 'note' | 'reconfigure'>;
  readonly log: Log;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

export class Gate {
  readonly #options: GateOptions;
  readonly #refusals: RefusalLog;
  readonly #wrongKeys: WrongKeys;
  /** Called for each request with a wrong key. */
  onWrongKey: (address: string) => void = () => undefined;
  #policy: AccessPolicy;
  #warning: string | undefined;
  /** Requests by why they were refused; each reason is there from the start. */
  readonly #refused: Record<string, number> = {
    bad_request: 0,
    unauthorized: 0,
    address: 0,
    host_not_allowed: 0,
    origin_not_allowed: 0,
    too_many_connections: 0,
    too_many_requests: 0,
    too_many_streams: 0,
    feature_disabled: 0,
    scope_required: 0,
  };
  // Ten thousand viewers behind one proxy are equal in everything that is judged: they share one kept request.
  readonly #clients = new Map<string, WeakRef<Caller>>();
  readonly #forgotten = new FinalizationRegistry<string>((key) => {
    if (this.#clients.get(key)?.deref() === undefined) this.#clients.delete(key);
  });

  constructor(options: GateOptions) {
    this.#options = options;
    this.#policy = this.#compile(options.config);
    this.#refusals = new RefusalLog((text) => options.log.warn(text));
    this.#wrongKeys = new WrongKeys((text, address) => options.log.warn(`access: ${text}`, { address }));
    this.#warnOfExposure(options.config);
  }

  reconfigure(config: Config): void {
    this.#policy = this.#compile(config);
    this.#warnOfExposure(config);
  }

  #compile(config: Config): AccessPolicy {
    const { machineNames, dashboardPaths, provenPaths, uses } = this.#options;
    const policy = compileAccess(config, machineNames, dashboardPaths, provenPaths);
    uses?.reconfigure([...policy.keys.keys.values()].map(({ name }) => name));
    return policy;
  }

  judge(head: RequestHead): GateVerdict {
    const request = requestOf(head, this.#options.socketPaths ?? SOCKET_PATHS);
    const unixMs = Date.now();
    const decision = decideAccess(this.#policy, request, unixMs);
    const now = this.#options.now();
    this.#refusals.note(decision, now);
    if (!decision.isAllowed) {
      this.#count(decision.errorCode ?? REASON_OF[decision.status]);
      if (decision.isWrongKey && decision.client !== undefined) this.onWrongKey(decision.client);
      const answer = refusalOf(decision);
      return {
        isAllowed: false,
        answer: this.#wrongKeys.exceeds(decision, now) ? { ...answer, isLast: true } : answer,
      };
    }
    if (decision.isPreflight) return { isAllowed: false, answer: emptyAnswer(decision.headers) };
    const { client: address, isKeyed, key, scopes } = decision;
    this.#options.uses?.note(key, address, unixMs);
    return {
      isAllowed: true,
      headers: corsHeaders(decision),
      client: { address, isKeyed, key, scopes, request },
    };
  }

  /** Counts a request that was refused past the gate, if its code is counted; an address that a limit refuses is logged once. */
  noteRefusal(code: string, address: string): void {
    this.#count(code);
    const setting = LIMITS[code];
    if (setting === undefined) return;
    const hint = `access: ${address} was refused (${code}): see ${setting}; further refusals are only counted`;
    this.#refusals.note({ isAllowed: false, hint, client: address }, this.#options.now());
  }

  /** Notes a wrong key that a route has found; returns whether its connection is to end with the answer. */
  noteWrongKey(address: string): boolean {
    this.#count('unauthorized');
    return this.#wrongKeys.note(address, this.#options.now());
  }

  #count(code: string): void {
    const count = this.#refused[code];
    if (count !== undefined) this.#refused[code] = count + 1;
  }

  /** Requests and connections that were refused since the start, by reason. */
  get refusals(): Readonly<Record<string, number>> {
    return { ...this.#refused };
  }

  /**
   * The part of a client's request that is kept while its connection is open; equal ones are shared, whichever of a hub's
   * machines they are for.
   */
  keep({ request: asked, ...client }: Caller): Caller {
    if (asked === undefined) return client;
    // Streams and sockets have no path that another configuration could make public.
    const path = isPathJudged(this.#policy, asked.path) ? asked.path : '';
    const request = condense({ ...asked, path });
    const text = JSON.stringify([{ ...request, headers: [...request.headers] }, client]);
    const key = createHash('sha256').update(text).digest('base64');
    const known = this.#clients.get(key)?.deref();
    if (known !== undefined) return known;
    const bytes = text.length;
    const buffered = bytes > QUOTAS.uncounted.maxBytes ? { key: {}, bytes } : undefined;
    const caller = { ...client, request, buffered };
    this.#clients.set(key, new WeakRef(caller));
    this.#forgotten.register(caller, key);
    return caller;
  }

  /** Whether the peer at `address` is a proxy that is trusted to name its clients. */
  isTrustedProxy(address: string): boolean {
    const peer = parsePeer(address);
    return peer !== undefined && matches(this.#policy.trustedProxies, peer);
  }

  /** Returns whether the current rules admit `client` with the key that it had, and let it do all that it might do. */
  passes({ request, key, scopes }: Caller): boolean {
    if (request === undefined) return false;
    const decision = decideAccess(this.#policy, request);
    if (!decision.isAllowed || decision.isPreflight) return decision.isAllowed;
    return decision.key === key && covers(decision.scopes, scopes);
  }

  /** Returns when the key of `client` expires, in milliseconds of Unix time; Infinity: never, or it has none. */
  expiryOf({ key }: Pick<Caller, 'key'>): number {
    return this.#policy.keys.ends.get(key ?? '') ?? Number.POSITIVE_INFINITY;
  }

  /** Notes a message of an open socket; false: its key has ended, of which no timer knows yet if the clock was set. */
  hears(client: Pick<Caller, 'key' | 'address'>): boolean {
    const unixMs = Date.now();
    if (unixMs >= this.expiryOf(client)) return false;
    this.#options.uses?.note(client.key, client.address, unixMs);
    return true;
  }

  /** Logs the warning once, and again only if a reload has changed it. */
  #warnOfExposure(config: Config): void {
    const warning = (this.#options.exposure ?? exposureWarning)(config);
    if (warning !== undefined && warning !== this.#warning) this.#options.log.warn(warning);
    this.#warning = warning;
  }
}

function requestOf(head: RequestHead, socketPaths: readonly string[]): AccessRequest {
  // More than asksForSocket: what may be meant as an upgrade is judged as one.
  const isUpgrade =
    head.method === 'GET' &&
    (head.headers.get('upgrade') ?? []).some((value) => value.toLowerCase().includes('websocket'));
  return {
    remoteAddress: head.remoteAddress,
    method: head.method,
    path: head.path,
    isUpgrade,
    scheme: head.isSecure ? 'https' : undefined,
    headers: head.headers,
    queryKeys: socketPaths.some((path) => matchesPath(path, head.path))
      ? new URLSearchParams(head.query).getAll('api_key')
      : [],
  };
}

function refusalOf(decision: Extract<Decision, { isAllowed: false }>): Answer {
  const headers = corsHeaders(decision);
  if (decision.status === 400) {
    const error = new ServiceError('bad_request', 'A request needs exactly one Host header.');
    return { ...errorAnswer(error, headers), isLast: true };
  }
  const code: Headers = decision.errorCode === undefined ? [] : [['X-Error-Code', decision.errorCode]];
  return bareAnswer(decision.status, [...code, ...headers]);
}
