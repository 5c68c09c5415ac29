/**
 * Checks whether an agent that nobody watches is there and takes this hub, without a sample being taken: HEAD of its stream,
 * which the key and the address are judged for. The first time its system, which has its name.
 */
import { fetchJson } from './pull/fetch.ts';
import { AgentRequest, checkHead, type Failure } from './pull/request.ts';
import type { Target } from './pull/target.ts';

export interface Presence {
  /** Gives the check up: nothing is reported. */
  readonly close: () => void;
}

/** Calls `done` once, later. `onName`: gets the host name, if it is wanted. */
export function checkPresence(
  target: Target,
  limitMs: number,
  done: (failure: Failure | undefined) => void,
  onName?: (name: string) => void,
): Presence {
  const limits = { headMs: limitMs, silenceMs: limitMs };
  if (onName === undefined)
    return new AgentRequest(
      target,
      { method: 'HEAD', path: '/api/stream', ...limits },
      { onHead: (head) => checkHead(head, 'text/event-stream'), onBody: () => undefined, onEnd: done },
    );
  const { answer, close } = fetchJson(target, '/api/system', limits);
  void answer.then((found) => {
    if (!Buffer.isBuffer(found)) return done(found);
    const name = nameIn(found);
    if (name === undefined) return done({ isRefusal: false, reason: 'what answers there is no hostwire' });
    onName(name);
    done(undefined);
  });
  return { close };
}

const HOST_NAME = /^[!-~]{1,253}$/;

/** `hostname` of an answer of /api/system. */
function nameIn(bytes: Buffer): string | undefined {
  try {
    const { hostname } = JSON.parse(bytes.toString()) as { readonly hostname?: unknown };
    return typeof hostname === 'string' && HOST_NAME.test(hostname) ? hostname : undefined;
  } catch {
    return undefined;
  }
}
