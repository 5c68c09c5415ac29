/** The row about sending events to subscribers: the addon's writer, or the engine's own sockets. */
import type { Config } from '../../config/config.ts';
import type { EngineName } from '../../engines.ts';
import type { Finding } from '../../host/finding.ts';
import { type Obstacle, partly } from './rows.ts';

const ENCRYPTED = {
  reason: 'Node encrypts TLS connections, at several times the CPU time and memory per subscriber',
  remedy: 'for more than about 50 subscribers, terminate TLS at a reverse proxy',
} satisfies Obstacle;

const UNFINISHED = {
  reason: "the line break after an event's chunk is sent with the next event",
  remedy: 'set server.engine to auto or node',
} satisfies Obstacle;

/** `native`: the row of the addon, for plain HTTP; `hasWriter`: it sends the events, whichever the engine is. Pure. */
export function judgeStreams(
  native: Finding,
  { engine, hasWriter }: { readonly engine: EngineName | undefined; readonly hasWriter: boolean },
  { tls }: Pick<Config['server'], 'tls'>,
): Finding {
  const { subject } = native;
  const plain = engine === 'uws' && !hasWriter ? partly(subject, 'uWebSockets.js', UNFINISHED) : native;
  if (tls.cert === undefined) return plain;
  if (tls.port === undefined) return partly(subject, "Node's sockets", ENCRYPTED);
  const { source, reason, remedy } = plain;
  return partly(subject, `${source}; Node's sockets for TLS`, {
    reason: reason === null ? ENCRYPTED.reason : `${reason}; ${ENCRYPTED.reason}`,
    remedy: remedy === null ? ENCRYPTED.remedy : `${remedy}; ${ENCRYPTED.remedy}`,
  });
}
