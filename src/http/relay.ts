/**
 * Requests that a hub passes on. `X-Hostwire-Hub` has the hub and, with a command, the client that asked it and the last
 * moment at which it may be begun: one of this service's own clock, which each answer to such a request has in
 * `X-Hostwire-Clock`. So a command that was held up is not done late, however far apart the clocks are.
 */
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { ServiceError } from '../errors.ts';
import type { RequestHead } from './head.ts';
import type { Headers } from './reply.ts';

export const RELAY_HEADER = 'x-hostwire-hub';

/** Further ahead than any hub waits. */
const MAX_AHEAD_MS = 30_000;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** What the header of a request says. */
export interface Relayed {
  /** For the audit trail; nobody has proven it but the one who sent the request. */
  readonly via: { readonly hub: string; readonly client?: string; readonly key: string | undefined };
  /** Throws `not_possible_now` where a command comes too late, or is meant for the service before its last start. */
  refuseLate(): void;
}

const invalid = () => new ServiceError('bad_request', 'X-Hostwire-Hub is malformed.');

export class Relay {
  readonly #now: () => number;
  /** Another one after each start. Made when the first hub asks. */
  #run: string | undefined;

  /** `now`: milliseconds since boot, suspended time included. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** undefined: no hub has sent it. Throws `bad_request`. */
  read({ headers }: RequestHead): Relayed | undefined {
    const [text, ...more] = headers.get(RELAY_HEADER) ?? [];
    if (text === undefined) return undefined;
    const [hub = '', ...parts] = text.split(';').map((part) => part.trim());
    const fields = new Map(
      parts.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]),
    );
    const client = fields.get('client');
    const key = fields.get('key');
    if (more.length > 0 || !NAME.test(hub)) throw invalid();
    if (client !== undefined && client !== 'unknown' && isIP(client) === 0) throw invalid();
    if (key !== undefined && !NAME.test(key)) throw invalid();
    return {
      via: { hub, ...(client === undefined ? {} : { client }), key },
      refuseLate: () => this.#refuseLate(fields.get('run'), fields.get('deadline')),
    };
  }

  /** The clock, for the answer to a request of a hub. */
  stamp(): Headers {
    return [['X-Hostwire-Clock', `${this.#ownRun()} ${Math.floor(this.#now())}`]];
  }

  #ownRun(): string {
    this.#run ??= randomBytes(8).toString('hex');
    return this.#run;
  }

  #refuseLate(run: string | undefined, deadline: string | undefined): void {
    if (run === undefined || deadline === undefined || !/^\d{1,15}$/.test(deadline)) throw invalid();
    const lateness =
      run !== this.#ownRun() ? 'other_run' : this.#now() > Number(deadline) ? 'late' : undefined;
    if (lateness !== undefined)
      throw new ServiceError('not_possible_now', 'The hub sent it too late.', { lateness });
    if (Number(deadline) - this.#now() > MAX_AHEAD_MS) throw invalid();
  }
}
