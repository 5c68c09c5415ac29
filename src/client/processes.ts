/** The process API of a socket. */
import type { ProcessDetailsPayload, ProcessListPayload } from '../wire/process.ts';
import type { Asker } from './calls.ts';
import type { ProcessCommandFeedback } from './messages.ts';
import type { AskOptions, KillOptions, LaunchOptions, ListOptions, Target } from './socket-options.ts';

/** The service's default wait for a process to end. */
const ENDS_WITHIN_MS = 3000;

export class Processes {
  readonly #asker: Asker;

  constructor(asker: Asker) {
    this.#asker = asker;
  }

  list({ sort, limit, query, grouped, ...options }: ListOptions = {}): Promise<ProcessListPayload> {
    return this.#asker.question('process_list', { sort, limit, query, grouped }, 'process_list', options);
  }

  details(target: Target, options: AskOptions = {}): Promise<ProcessDetailsPayload> {
    const data = 'pid' in target ? { pid: target.pid } : { name: target.name };
    return this.#asker.question('process_details', data, 'process_details', options);
  }

  /** Resolves when the process has ended. `started_at` protects another process that got the same pid. */
  kill(
    target: Target,
    { by, tree, endsWithinMs, ...options }: KillOptions = {},
  ): Promise<ProcessCommandFeedback> {
    const data = { ...target, signal: by, tree, timeout_ms: endsWithinMs };
    return this.#asker.command('process_kill', data, options, endsWithinMs ?? ENDS_WITHIN_MS);
  }

  /** Starts an app that is listed in the service's configuration. */
  launch(app: string, { args, ...options }: LaunchOptions = {}): Promise<ProcessCommandFeedback> {
    return this.#asker.command('process_launch', { app, args }, options);
  }
}
