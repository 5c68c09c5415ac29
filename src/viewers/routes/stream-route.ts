/** Event streams of one machine: /api/stream of a service, and /api/hosts/{id}/stream of a hub. */

import type { Caller } from '../../access/caller.ts';
import { ServiceError } from '../../errors.ts';
import type { Gate } from '../../http/gate.ts';
import type { Answer } from '../../http/head.ts';
import { type Headers, statusLine } from '../../http/reply.ts';
import type { Request, Run } from '../../http/routes.ts';
import { STREAM_HEADERS } from '../../streams/engine-fanout.ts';
import type { MachineSample } from '../../streams/sample.ts';
import type { Streams } from '../../streams/streams.ts';
import { type MachineOf, viewOfRequest } from './request-routes.ts';

export interface StreamRouteDeps {
  readonly gate: Pick<Gate, 'judge' | 'keep'>;
  readonly streams: Pick<Streams, 'open'>;
  /** Whether one more stream may be opened. */
  readonly hasCapacity: (caller: Caller) => boolean;
}

/** HEAD: the stream's headers, then the end. */
export const streamHead = (headers: Headers): Answer => ({
  status: statusLine(200),
  headers: [...STREAM_HEADERS, ...headers],
  body: undefined,
});

/** Throws `too_many_streams`. */
export function checkCapacity(
  { hasCapacity }: Pick<StreamRouteDeps, 'hasCapacity'>,
  { client }: Request,
): void {
  if (!hasCapacity(client)) throw new ServiceError('too_many_streams', 'Too many streams are open.');
}

export function streamRun(deps: StreamRouteDeps, machineOf: MachineOf): Run {
  return (request) => {
    const { view, headers } = viewOfRequest(request);
    const { exchange, client } = request;
    const machine = machineOf(request);
    if (exchange.head.method === 'HEAD') return streamHead(headers);
    checkCapacity(deps, request);
    let hasWaited = false;
    const open = (sample: MachineSample, skipsNext: boolean): Answer | undefined => {
      if (hasWaited) {
        // In the meantime the rules may have changed, and other streams been opened.
        const verdict = deps.gate.judge(exchange.head);
        if (!verdict.isAllowed) return verdict.answer;
        checkCapacity(deps, request);
      }
      const caller = deps.gate.keep(client);
      deps.streams.open(machine, view, { exchange, headers, event: sample.event(view), caller, skipsNext });
      return undefined;
    };
    const answer = machine.first(view, open);
    hasWaited = true;
    return answer;
  };
}
